"""Sweeps: what is measured, what is kept, and what is run again."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from conftest import Command
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from seeds import seed_file
from test_cli import only_json, run, showed_no_cell

from sparkanon.engine import pipeline
from sparkanon.engine.sweep.outcomes import LINKAGE, ONE_IN_CLASS
from sparkanon.engine.sweep.sweep import Sweep, asking_for, sweep
from sparkanon.engine.table.sample_data import people
from sparkanon.errors import InputError
from sparkanon.policy import Policy, make_policy
from sparkanon.policy.grid import make_cells

ROWS = 300
GRID = {"k": [3, 10], "method.grouping": ["mdav", "refined"]}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("sweep") / "people.parquet")
    people(spark, ROWS).select("person_id", "age", "income", "height_cm").write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Policy]:
    """The policies that were really run."""
    seen: list[Policy] = []
    real = pipeline.anonymize

    def counted(df: Any, policy: Any, **options: Any) -> Any:
        seen.append(policy)
        return real(df, policy, **options)

    monkeypatch.setattr(pipeline, "anonymize", counted)
    return seen


class Heard:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str]] = []

    def started(self, step: str) -> None:
        pass

    def done(self, step: str, seconds: float, note: str) -> None:
        self.steps.append((step, note))


def a_policy(tmp_path: Path, **changes: Any) -> Policy:
    seed = tmp_path / "seed.txt"
    if not seed.exists():
        seed_file(tmp_path)
    quasi = dict.fromkeys(("age", "income", "height_cm"), "quasi_identifier")
    columns = {"person_id": "identifier", **quasi}
    return make_policy({"columns": columns, "k": 5, "seed": {"file": str(seed)}} | changes)


def swept(
    table: DataFrame, policy: Policy, tmp_path: Path, grid: Any = None, **more: Any
) -> Sweep:
    return sweep(table, policy, make_cells(policy, grid or GRID), tmp_path / "out", **more)


def test_cells_are_measured_kept_and_not_run_again(
    table: DataFrame, tmp_path: Path, ran: list[Policy]
) -> None:
    heard = Heard()
    policy = a_policy(tmp_path)
    first = swept(table, policy, tmp_path, watcher=heard)
    assert first.status == "ok"
    assert [(p.k, p.method.grouping.key) for p in ran] == [
        (3, "mdav"),
        (10, "mdav"),
        (3, "refined"),
        (10, "refined"),
    ]
    assert [step for step, _ in heard.steps] == [
        "read",
        "cell 1/4: k=3 mdav",
        "cell 2/4: k=10 mdav",
        "cell 3/4: k=3 refined",
        "cell 4/4: k=10 refined",
    ]
    assert heard.steps[0][1] == "300 rows"
    assert not table.storageLevel.useMemory  # given back

    # the numbers are those of a single run
    alone = pipeline.anonymize(table, ran[0], dry_run=True)
    il = next(m.value for m in alone.measures if m.measure == "il" and m.column is None)
    assert il is not None
    assert first.outcomes[0].measures["il"] == float(f"{il:.2e}")  # as it may be shown around
    assert [outcome.value(ONE_IN_CLASS) for outcome in first.outcomes] == [1 / 3, 0.1, 1 / 3, 0.1]
    il = [outcome.value("il") for outcome in first.outcomes]
    # with the same risk at each k, the front is who loses less there
    assert first.front == (il[0] <= il[2], il[1] <= il[3], il[2] <= il[0], il[3] <= il[1])

    ran.clear()
    heard = Heard()
    again = swept(table.repartition(3), policy, tmp_path, watcher=heard)
    assert ran == []
    assert all(outcome.kept for outcome in again.outcomes)
    assert [outcome.measures for outcome in again.outcomes] == [
        outcome.measures for outcome in first.outcomes
    ]
    assert all(note.endswith("from an earlier run") for _, note in heard.steps[1:])

    cells = tmp_path / "out" / "cells"
    (cells / f"{first.outcomes[2].cell.policy.digest()}.json").unlink()
    damaged = cells / f"{first.outcomes[1].cell.policy.digest()}.json"
    damaged.write_text(damaged.read_text()[:40])
    swept(table, policy, tmp_path)
    assert [(p.k, p.method.grouping.key) for p in ran] == [(10, "mdav"), (3, "refined")]

    ran.clear()
    swept(table, policy, tmp_path, {"k": [3, 10, 25], "method.grouping": ["mdav", "refined"]})
    assert [p.k for p in ran] == [25, 25]  # a larger grid runs what is new in it


@pytest.mark.slow
def test_another_table_policy_or_seed_runs_again(
    table: DataFrame, tmp_path: Path, ran: list[Policy]
) -> None:
    grid = {"k": [4]}
    swept(table, a_policy(tmp_path), tmp_path, grid)
    ran.clear()
    one_cell = F.when(F.col("person_id") == table.first()["person_id"], 1).otherwise(F.col("age"))
    swept(table.withColumn("age", one_cell.cast("int")), a_policy(tmp_path), tmp_path, grid)
    assert len(ran) == 1
    swept(table, a_policy(tmp_path), tmp_path, grid)
    assert len(ran) == 2  # the other table's result is not this one's
    swept(table, a_policy(tmp_path, nulls="drop_row"), tmp_path, grid)
    assert len(ran) == 3
    seed_file(tmp_path, "another seed")
    swept(table, a_policy(tmp_path), tmp_path, grid)
    assert len(ran) == 4
    swept(table, a_policy(tmp_path), tmp_path, grid)
    assert len(ran) == 4


@pytest.mark.slow
def test_refusals_and_errors_are_results(
    table: DataFrame, tmp_path: Path, ran: list[Policy]
) -> None:
    policy = a_policy(tmp_path, gates={"min_k": 5})
    grid = {"k": [3, 10, ROWS + 1]}
    result = swept(table, policy, tmp_path, grid)
    assert [outcome.status for outcome in result.outcomes] == ["refused", "ok", "error"]
    assert result.status == "ok"
    assert result.front == (True, True, False)
    refused, _, wrong = result.outcomes
    assert refused.measures["min_class_size"] == 3
    assert [problem.path for problem in refused.problems] == ["gates.min_k"]
    assert [str(problem) for problem in wrong.problems] == ["k: is 301, more than the 300 rows"]
    reported = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert reported["cells"][2]["errors"] == [
        {"path": "k", "message": "is 301, more than the 300 rows"}
    ]
    ran.clear()
    swept(table, policy, tmp_path, grid)
    assert [p.k for p in ran] == [ROWS + 1]  # what failed is tried again

    with pytest.raises(InputError):
        swept(table, policy, tmp_path, grid, y="min_class_size")
    nothing = swept(table.limit(0), policy, tmp_path, grid)
    assert nothing.status == "error"


def test_what_is_written(table: DataFrame, tmp_path: Path) -> None:
    policy = a_policy(tmp_path, output={"format": "parquet", "path": str(tmp_path / "release")})
    grid = {"method.grouping": ["mdav", "refined"], "method.grouping.passes": [0, 2]}
    seen: list[list[str]] = []

    class Reader(Heard):
        def done(self, step: str, seconds: float, note: str) -> None:
            path = tmp_path / "out" / "sweep.json"
            if path.exists():
                seen.append([c["status"] for c in json.loads(path.read_text())["cells"]])

    result = swept(table, policy, tmp_path, grid, watcher=Reader(), run_id="r1")
    assert seen == [["ok", "pending", "pending"], ["ok", "ok", "pending"], ["ok", "ok", "ok"]]
    reported = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert reported == result.to_dict()
    assert (reported["status"], reported["run_id"], reported["x"], reported["y"]) == (
        "ok",
        "r1",
        "il",
        ONE_IN_CLASS,
    )
    labels = [cell["label"] for cell in reported["cells"]]
    assert labels == ["k=5 mdav", "k=5 passes=0 refined", "k=5 passes=2 refined"]
    assert reported["pareto"] == [cell["label"] for cell in reported["cells"] if cell["pareto"]]
    with (tmp_path / "out" / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == labels
    assert [row["method.grouping.passes"] for row in rows] == ["", "0", "2"]
    assert [float(row["il"]) for row in rows] == [c["measures"]["il"] for c in reported["cells"]]
    # nothing is published, nothing is left in staging, and the key is the owner's
    assert {path.name for path in tmp_path.iterdir()} == {"out", "seed.txt"}
    assert stat.S_IMODE((tmp_path / "out" / "cells" / ".key").stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_damaged_table_ends_the_sweep(table: DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "damaged.parquet"
    table.repartition(2).write.parquet(str(path))
    sorted(path.glob("part-*"))[1].write_bytes(b"PAR1 no more PAR1")
    for checksum in path.glob(".*.crc"):
        checksum.unlink()
    policy = a_policy(tmp_path, input={"format": "parquet", "path": str(path)})
    with pytest.raises(InputError, match="cannot be read as parquet"):
        sweep(None, policy, make_cells(policy, GRID), tmp_path / "out", spark=table.sparkSession)
    assert not (tmp_path / "out" / "sweep.json").exists()


@pytest.mark.slow
def test_risk_is_the_linkage_where_it_is_measured(
    table: DataFrame, tmp_path: Path, ran: list[Policy]
) -> None:
    policy = a_policy(tmp_path)
    assert asking_for(policy, "il", ONE_IN_CLASS, None) == policy
    linked = asking_for(policy, "il", LINKAGE)
    assert linked.audit.take == [LINKAGE]
    assert asking_for(linked, "il", LINKAGE) == linked
    result = swept(table, linked, tmp_path, {"k": [3, 10]})
    assert result.y == LINKAGE
    risks = [outcome.value(LINKAGE) for outcome in result.outcomes]
    assert all(risk is not None and 0 < risk < 0.5 for risk in risks)
    assert risks[0] > risks[1]
    plain = swept(table, linked, tmp_path, {"k": [3, 10]}, y=ONE_IN_CLASS)
    assert plain.y == ONE_IN_CLASS
    assert len(ran) == 2


def test_cells_count_values_of_a_csv_not_their_spelling(spark: Any, tmp_path: Path) -> None:
    """The policy of the file has no constraint, its output would be CSV, and a cell has one."""
    rows = [f"{i},{value}" for i, value in enumerate(["5", "5.0", "05"] * 2)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay", *rows]) + "\n")
    places = {
        side: {"format": "csv", "path": str(tmp_path / name)}
        for side, name in (("input", "people.csv"), ("output", "out"))
    }
    columns = {"age": "quasi_identifier", "pay": "sensitive"}
    policy = make_policy(places | {"columns": columns, "k": 3})
    cells = make_cells(policy, {"constraints.l_diversity": [2]})
    (outcome,) = sweep(None, policy, cells, tmp_path / "map", spark=spark).outcomes
    assert "only 1 value" in str(outcome.problems[0])


# --- the command, in a process of its own


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{i % 7},{100 * i % 33},Zanzibar{i}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay,name", *rows]) + "\n")
    policy = {
        "version": 1,
        "input": {"format": "csv", "path": "people.csv"},
        "output": {"format": "csv", "path": "out/release"},
        "columns": {"age": "quasi_identifier", "pay": "quasi_identifier", "name": "identifier"},
        "k": 3,
        "seed": {"env": "CLI_SEED"},
    }
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy, sort_keys=False))
    return tmp_path


def test_bad_values_are_refused_before_anything_is_written(folder: Path, command: Command) -> None:
    before = {*folder.rglob("*"), folder / "state"}
    values = ("--k", "1,5", "--grouping", "mdva", "--vary", "nulls=maybe", "--out", "map")
    done = command(folder, "sweep", "policy.yaml", *values, "--json")
    assert done.returncode == 2
    reported = only_json(done)
    assert reported["status"] == "error"
    assert {error["path"] for error in reported["errors"]} == {"--k", "--grouping", "--vary nulls"}
    for wrong in (("--y", "linkag"), ("--x", "k"), ("--out", "."), ("--out", "people.csv")):
        done = command(folder, "sweep", "policy.yaml", "--k", "3", "--out", "map", *wrong)
        assert done.returncode == 2, wrong
        assert wrong[0] in done.stderr
    assert not {*folder.rglob("*")} - before


@pytest.mark.slow
def test_the_command_for_a_scheduler(folder: Path) -> None:
    values = ("--k", "3,10,900", "--grouping", "mdav,refined", "--out", "map")
    done = run(folder, "sweep", "policy.yaml", *values, "--json")
    assert done.returncode == 0, done.stderr
    reported = only_json(done)
    assert reported.keys() == {"status", "run_id", "x", "y", "cells", "pareto", "out"}
    assert (reported["status"], reported["out"], reported["y"]) == ("ok", "map", ONE_IN_CLASS)
    statuses = ["ok", "ok", "error"]
    assert [cell["status"] for cell in reported["cells"]] == statuses * 2
    assert reported["pareto"]
    root = ElementTree.fromstring((folder / "map" / "sweep.svg").read_text())
    svg = "{http://www.w3.org/2000/svg}"
    assert len([g for g in root.iter(f"{svg}g") if str(g.get("class")).startswith("cell")]) == 4
    assert {p.name for p in (folder / "map").iterdir()} == {
        "cells",
        "sweep.json",
        "sweep.csv",
        "sweep.svg",
        "report.json",
    }
    assert not [path for path in folder.rglob("*") if "release" in path.name]
    showed_no_cell(folder, done)
    written = [path for path in (folder / "map").rglob("*") if path.is_file()]
    assert not [path for path in written if "Zanzibar" in path.read_text()]


@pytest.mark.slow
def test_the_command_for_a_person(folder: Path) -> None:
    done = run(folder, "sweep", "policy.yaml", "--k", "900", "--out", "map")
    assert done.returncode == 2
    assert "k=900 refined" in done.stdout
    assert "k: is 900, more than the 200 rows" in done.stderr
    assert "cell 1/1: k=900 refined" in done.stderr
