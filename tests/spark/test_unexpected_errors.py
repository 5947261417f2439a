"""Errors that nobody expected, on the driver and on executors: their place, never their text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from sparkanon.engine import pipeline
from sparkanon.engine.count.passes import tally

CELL = "Zanzibar-4711"
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test


class Failing:
    def count(self, cells: Any) -> int:
        raise LookupError(f"what is {CELL}?")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    content = {
        "input": {"format": "parquet", "path": str(tmp_path / "in")},
        "output": {"format": "parquet", "path": str(tmp_path / "out")},
        "columns": {"age": "quasi_identifier"},
        "k": 3,
    }
    path.write_text(json.dumps(content))
    return path


def test_on_an_executor(
    command: Any, spark: Any, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        tally(spark.range(10), Failing())

    monkeypatch.setattr(pipeline, "anonymize", failing)
    done = command(policy.parent, "anonymize", str(policy))
    assert done.returncode == 1
    reported = r"LookupError at sparkanon/engine/count/passes\.py:\d+ in __call__"
    assert re.search(
        rf"unexpected error:\s+{reported} \(from test_unexpected_errors\.count\)", done.stderr
    )
    assert "PythonException" not in done.stderr
    assert CELL not in done.stderr + done.stdout


def test_of_spark_itself(
    command: Any, spark: Any, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pipeline, "read_seed", lambda _: spark.sql(f"select cast('{CELL}' as int)").collect()
    )
    done = command(policy.parent, "anonymize", str(policy))
    assert done.returncode == 1
    assert "[CAST_INVALID_INPUT] at sparkanon/engine/pipeline.py:" in done.stderr
    assert "in anonymize (from test_unexpected_errors.<lambda>)" not in done.stderr
    assert "in anonymize (from pyspark." in done.stderr
    assert CELL not in done.stderr + done.stdout
