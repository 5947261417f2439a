"""A cluster of two executors, one of which is killed while it works: the same release."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import killed_executor
import pytest
from pyspark.sql import SparkSession
from seeds import seed_file

from sparkanon.engine.table.sample_data import people
from sparkanon.groupings import Refined

ROWS = 5_000


def test_a_killed_executor_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_file(tmp_path, "calm or stormy", "seed")
    people(spark, ROWS, partitions=4).write.parquet(str(tmp_path / "people"))
    for name in ("block_rows", "crosses"):  # `run` sets them; they are put back after the test
        monkeypatch.setattr(Refined, name, getattr(Refined, name))
    table = spark.read.parquet(str(tmp_path / "people"))
    calm = [killed_executor.run(table, tmp_path, "files", crosses) for crosses in (False, True)]
    done = subprocess.run(
        [sys.executable, killed_executor.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    stormy = json.loads(done.stdout.splitlines()[-1])
    assert stormy == [one | {"killed": 1} for one in calm] * len(killed_executor.BLOCKS)
    lost = (tmp_path / "spark.log").read_text().count("ERROR TaskSchedulerImpl: Lost executor")
    assert lost == len(stormy), "an executor died when its work was done"
    assert calm[0]["hash"] != calm[1]["hash"], "the second round changed nothing"
    for one in calm:
        assert one["rows"] == ROWS
        assert int(str(one["blocks"])) > 8
    assert list(tmp_path.glob(".sparkanon*")) == []
