"""The real command: exit codes, and what stands on which stream."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Command
from seeds import seed_text

from sparkanon.groupings import GROUPINGS
from sparkanon.releases import RELEASES
from sparkanon.spaces import SPACES

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Zanzibar"
RELEASE_KEYS = {
    "status",
    "run_id",
    "rows_in",
    "rows_out",
    "k",
    "min_class_size",
    "measures",
    "gates",
    "output",
    "manifest",
    "seconds",
}
# Spark, Ivy, log4j, JVM and Python's own warnings
NOISE = re.compile(r"WARN|ERROR|INFO|ivy|:: |Spark Project|Setting default log|Warning|Traceback")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy, a table of 40 rows and a damaged one, in a working folder of their own."""
    rows = [f"{i % 7},{100 * i % 33},{SECRET}{i}" for i in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay,name", *rows]) + "\n")
    rows[30] = f"{SECRET},1,x"
    (tmp_path / "damaged.csv").write_text("\n".join(["age,pay,name", *rows]) + "\n")
    policy = {
        "version": 1,
        "input": {"format": "csv", "path": "people.csv"},
        "output": {"format": "csv", "path": "out/release"},
        "columns": {
            "age": "quasi_identifier",
            "pay": {"role": "quasi_identifier", "type": "numeric"},
            "name": "identifier",
        },
        "k": 3,
        "gates": {"max_il": 90},
        "seed": {"env": "CLI_SEED"},
    }
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy, sort_keys=False))
    return tmp_path


def run(folder: Path, *arguments: str, launcher: list[str] | None = None) -> Any:
    start = launcher or [sys.executable, "-c", "from sparkanon.cli import main; main()"]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "CLI_SEED": seed_text(),
        "XDG_STATE_HOME": str(folder / "state"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": os.environ["SPARK_SUBMIT_OPTS"],
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env=environment | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def only_json(done: Any) -> dict[str, Any]:
    """stdout is one object and nothing else."""
    found: dict[str, Any] = json.loads(done.stdout)
    assert not NOISE.search(done.stderr), done.stderr
    return found


def showed_no_cell(folder: Path, done: Any) -> None:
    """No cell on a stream, in a log or in a manifest."""
    assert SECRET not in done.stdout + done.stderr
    written = [*(folder / "state").rglob("*"), *(folder / "runs").rglob("*")]
    assert not [path for path in written if path.is_file() and SECRET in path.read_text()]


# --- without Spark


def test_validate(folder: Path) -> None:
    good = run(folder, "validate", "policy.yaml", "--json")
    assert good.returncode == 0
    reported = only_json(good)
    assert (reported["status"], reported["run_id"]) == ("ok", None)
    bad = run(folder, "validate", "policy.yaml", "--json", "--set", "k=1", "--set", "nuls=reject")
    assert bad.returncode == 2
    reported = only_json(bad)
    assert reported["status"] == "error"
    assert {error["path"] for error in reported["errors"]} == {"k", "nuls"}
    person = run(folder, "validate", "policy.yaml", "--set", "method.grouping=mdva")
    assert person.returncode == 2
    assert person.stdout == ""
    assert "did you mean mdav " in person.stderr


def test_methods(folder: Path) -> None:
    done = run(folder, "methods", "--json")
    assert done.returncode == 0
    reported = only_json(done)
    for axis, registry in (("space", SPACES), ("grouping", GROUPINGS), ("release", RELEASES)):
        assert [item["key"] for item in reported[axis]] == list(registry.keys())
        assert all(
            item.keys() == {"key", "title", "source", "parameters"} for item in reported[axis]
        )


def test_wrong_usage(folder: Path) -> None:
    done = run(folder, "anonymize", "nowhere.yaml", "--json")
    assert done.returncode == 2
    assert only_json(done)["status"] == "error"
    done = run(folder, "anonymize", "policy.yaml", "--sett", "k=1", "--json")
    assert done.returncode == 2
    assert only_json(done)["status"] == "error"


# --- with Spark: two in a process of their own, with a JVM


def test_anonymize_publishes(folder: Path) -> None:
    done = run(folder, "anonymize", "policy.yaml", "--json", "--set", "k=10")
    assert done.returncode == 0, done.stderr
    reported = only_json(done)
    assert reported.keys() == RELEASE_KEYS
    assert (reported["status"], reported["rows_in"], reported["rows_out"]) == ("published", 40, 40)
    assert reported["k"] == 10 <= reported["min_class_size"]
    assert reported["output"] == "out/release"
    assert {"il", "sse", "sst"} <= {measure["measure"] for measure in reported["measures"]}
    keys = {"measure", "column", "value", "low", "high"}
    assert all(measure.keys() == keys for measure in reported["measures"])
    assert [gate["gate"] for gate in reported["gates"]] == ["min_k", "max_il"]
    keys = {"gate", "limit", "value", "passed", "compared"}
    assert all(gate.keys() == keys for gate in reported["gates"])
    assert all(
        gate["compared"] == gate["value"] for gate in reported["gates"]
    )  # exact, both of them
    steps = ["read", "fit", "cut", "mask", "verify", "publish"]
    assert list(reported["seconds"]) == steps
    assert len(done.stderr.splitlines()) == len(steps) + 1  # and the start of Spark
    manifest = json.loads((folder / reported["manifest"]).read_text())
    assert (manifest["run_id"], manifest["k"]) == (reported["run_id"], 10)
    assert manifest["seconds"].keys() == reported["seconds"].keys()
    assert "name" not in next((folder / "out/release").glob("part-*")).read_text()
    showed_no_cell(folder, done)


def test_spark_submit_and_dry_run(folder: Path) -> None:
    submit = Path(sys.executable).parent / "spark-submit"
    if not submit.exists():
        pytest.skip("no spark-submit beside this Python")
    launcher = [str(submit), "--master", "local[2]", str(ROOT / "jobs" / "anonymize.py")]
    done = run(folder, "policy.yaml", "--dry-run", "--json", launcher=launcher)
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)  # although spark-submit puts both streams of Python there
    assert reported.keys() == RELEASE_KEYS
    assert (reported["status"], reported["k"], reported["manifest"]) == ("dry_run", 3, None)
    assert reported["min_class_size"] >= 3
    assert not (folder / "runs").exists()
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())
    assert SECRET not in done.stdout + done.stderr


# --- with Spark, in this process


def at(folder: Path, table: str = "people.csv") -> tuple[str, ...]:
    places = f"input.path={folder / table}", f"output.path={folder / 'out/release'}"
    return ("--set", places[0], "--set", places[1])


def test_a_gate_refuses_and_the_old_release_stands(folder: Path, command: Command) -> None:
    done = command(folder, "anonymize", "policy.yaml", *at(folder))
    assert done.returncode == 0, done.stderr
    assert f"{folder}/out/release" in done.stdout.replace("\n", "")
    before = {path: path.read_bytes() for path in (folder / "out/release").iterdir()}
    change = ("--set", "gates.max_il=0.01")
    done = command(folder, "anonymize", "policy.yaml", "--json", *change, *at(folder))
    assert done.returncode == 3
    reported = only_json(done)
    assert reported["status"] == "refused"
    assert reported.keys() == RELEASE_KEYS | {"errors"}
    assert [error["path"] for error in reported["errors"]] == ["gates.max_il"]
    assert {path: path.read_bytes() for path in (folder / "out/release").iterdir()} == before
    assert [path.name for path in (folder / "out").iterdir()] == ["release"]
    showed_no_cell(folder, done)


def test_bad_input_for_a_person(folder: Path, command: Command) -> None:
    types = "input.types='age INT, pay INT, name STRING'"
    changes = ("--set", types, *at(folder, "damaged.csv"))
    done = command(folder, "anonymize", "policy.yaml", *changes)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "damaged.csv do not fit" in done.stderr
    assert "input.path: 1 of 40 rows" in done.stderr
    assert not NOISE.search(done.stderr), done.stderr
    assert not (folder / "out").exists()
    showed_no_cell(folder, done)
