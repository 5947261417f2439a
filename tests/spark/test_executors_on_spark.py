"""Executors that are asked: the real job, and a cluster whose workers have another sparkanon."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkanon.engine.session import executors
from sparkanon.engine.session.warm import Kernels
from sparkanon.errors import InputError
from sparkanon.releases import Centroid

ROOT = Path(__file__).resolve().parents[2]


def test_every_slot_answers(spark: SparkSession) -> None:
    assert not executors.are_elsewhere(spark)
    workers = executors.asked(spark)
    assert [worker.host for worker in workers] == [platform.node()] * 2
    assert executors.problems_of(workers) == []
    assert list(executors.other_libraries(workers)) == []
    said = executors.prepare(spark, Kernels(None, Centroid(), linkage=False))
    assert said == "1 machine"


def test_what_cannot_run_is_said(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(text: str) -> object:
        def collect(_: object) -> None:
            raise PySparkException(text)

        return collect

    kind = type(spark.range(1))
    monkeypatch.setattr(kind, "collect", failing("[PYTHON_VERSION_MISMATCH] 3.9 and 3.11"))
    with pytest.raises(InputError, match="run another Python than the driver"):
        executors.asked(spark)
    monkeypatch.setattr(kind, "collect", failing("an executor was lost"))
    with pytest.raises(PySparkException, match="lost"):
        executors.asked(spark)


def test_a_cluster_with_another_sparkanon(tmp_path: Path) -> None:
    """The run ends before any work on the table, with exit code 2."""
    another = tmp_path / "another" / "sparkanon"
    another.mkdir(parents=True)
    (another / "__init__.py").write_text("")
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(map(str, range(40))))
    policy = {
        "input": {"format": "csv", "path": str(tmp_path / "people.csv")},
        "output": {"format": "csv", "path": str(tmp_path / "release")},
        "columns": {"age": "quasi_identifier"},
        "k": 3,
    }
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        "spark.master local-cluster[1,1,1024]\n"
        "spark.executor.memory 1g\n"
        f"spark.executorEnv.PYTHONPATH {another.parent}\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from sparkanon.cli import main; main()",
            "anonymize",
            "policy.yaml",
        ],
        cwd=tmp_path,
        env=os.environ
        | {
            "SPARK_CONF_DIR": str(tmp_path / "conf"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "executors: have another sparkanon" in done.stderr
    assert "measuring its columns" not in done.stderr
    assert not (tmp_path / "release").exists()
    assert not list(tmp_path.glob(".sparkanon*"))
