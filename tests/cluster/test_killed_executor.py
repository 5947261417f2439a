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

from sparkanon.engine.sample_data import people
from sparkanon.groupings import Refined


def test_a_killed_executor_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seed").write_text("calm or stormy")
    people(spark, 12_000, partitions=4).write.parquet(str(tmp_path / "people"))
    monkeypatch.setattr(Refined, "block_rows", killed_executor.BLOCK_ROWS)
    table = spark.read.parquet(str(tmp_path / "people"))
    calm = killed_executor.run(table, tmp_path, "calm")
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
    assert stormy.pop("killed") == 1
    assert stormy == calm
    assert calm["rows"] == 12_000
    assert int(str(calm["blocks"])) > 8
