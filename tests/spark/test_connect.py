"""Spark Connect: the same release and the same audit, on a session that stays as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.engine.table.sample_data import people

pytest.importorskip("grpc", reason="Spark Connect needs grpc: pip install 'sparkanon[connect]'")

ROWS = 3_000
COLUMNS = dict.fromkeys(("age", "income", "height_cm"), "quasi_identifier")


def policies(folder: Path) -> dict[str, dict[str, Any]]:
    shared = {
        "input": {"format": "parquet", "path": str(folder / "people")},
        "columns": COLUMNS | {"diagnosis": "sensitive"},
        "unlisted": "drop",
        "k": 5,
        "seed": {"file": str(folder / "seed")},
        "runs": str(folder / "runs"),
    }
    return {
        "means": shared
        | {
            "output": {"format": "parquet", "path": str(folder / "means")},
            "nulls": "impute",
            "gates": {"max_linkage_masked_to_original": 1.0},
            "private": {"path": str(folder / "pairs of means")},
        },
        "permuted": shared
        | {
            "output": {"format": "csv", "path": str(folder / "permuted")},
            "method": {"release": "permute", "grouping": "mdav"},
            "private": {"path": str(folder / "pairs of permuted")},
        },
    }


def test_the_same_release_and_audit(spark: SparkSession, tmp_path: Path) -> None:
    from connect_session import fingerprint

    seed_file(tmp_path, "near or far", "seed")
    people(spark, ROWS, partitions=4).write.parquet(str(tmp_path / "people"))
    (tmp_path / "policies.json").write_text(json.dumps(policies(tmp_path)))
    script = Path(__file__).with_name("connect_session.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        cwd=tmp_path,
        # Spark then takes a free port for the server, and not always the same
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["session"].startswith("pyspark.sql.connect")
    assert said["kept"], "settings or tables of the session are not as they were"
    for name, policy in policies(tmp_path).items():
        release = sparkanon.anonymize(None, policy, spark=spark)
        audit = sparkanon.audit(None, None, policy, spark=spark)
        assert release.data is not None
        far = said["found"][name]
        assert far["rows"] == fingerprint(release.data)
        assert far["blocks"] == release.manifest["blocks"]
        assert [step for step in far["steps"] if step != "compile"] == [
            *release.manifest["seconds"]
        ]
        here = {m.measure: m.value for m in audit.measures if m.column is None}
        assert far["measures"] == pytest.approx(here)
    assert not list(tmp_path.glob(".sparkanon*"))
