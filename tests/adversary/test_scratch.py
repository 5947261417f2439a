"""Another user of the machine, and whoever gets the disk later, look for rows in Spark's files."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from crashes import long_ago
from pyspark.sql import SparkSession

import sparkanon
from sparkanon.engine.stores.owned import Private, scratch
from sparkanon.engine.stores.posix import Posix

SENTINEL = b"Zanzibar-4711"
JOB = """
import os, sys
from pathlib import Path
import pyarrow as pa
from pyspark import StorageLevel
from sparkanon.engine.session.session import get_session
conf = {"spark.master": "local[1]", "spark.driver.memory": "1g", "spark.shuffle.compress": "false"}
spark = get_session(log=Path(sys.argv[1]), conf=conf | dict(s.split("=") for s in sys.argv[2:]))
rows = spark.range(500).selectExpr("concat('Zanzibar', '-', 4711) town", "id")
rows.repartition(3).persist(StorageLevel.DISK_ONLY).count()
table = pa.table({"town": [f"{'Zanzibar'}-{4711}"] * 500})
spark.createDataFrame(table).mapInArrow(lambda batches: batches, "town string").distinct().count()
os.kill(spark._jvm.ProcessHandle.current().pid(), 9)
os.kill(os.getpid(), 9)
"""


def killed_session(tmp_path: Path, *settings: str) -> list[Path]:
    """Files of a session that shuffled rows, and of which nothing could clean up."""
    java = tmp_path / "java"
    java.mkdir()
    changed = {
        "TMPDIR": str(tmp_path),
        "JDK_JAVA_OPTIONS": f"-Djava.io.tmpdir={java}",
        "SPARK_CONF_DIR": str(tmp_path / "none"),
    }
    found = subprocess.run(
        [sys.executable, "-c", JOB, str(tmp_path / "log"), *settings],
        env=os.environ | changed,
        umask=0o022,
        check=False,
    )
    assert found.returncode == -signal.SIGKILL
    assert any(java.iterdir())
    return [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_killed_session_leaves_nothing_that_can_be_read(tmp_path: Path) -> None:
    files = killed_session(tmp_path)
    (left,) = tmp_path.glob(".sparkanon-*")
    held = {path.name.partition("_")[0] for path in files if left in path.parents}
    assert {"shuffle", "rdd"} <= held
    assert [path for path in files if SENTINEL in path.read_bytes()] == []
    for path in (left, *left.rglob("*"), tmp_path / "log"):
        if not path.name.endswith(".jar"):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    long_ago(left)
    Private(Posix(tmp_path), "scratch").clear_others()
    assert list(tmp_path.glob(".sparkanon-*")) == []


@pytest.mark.slow
def test_without_encryption_the_rows_would_be_found(tmp_path: Path) -> None:
    """What shows that the test above can fail."""
    files = killed_session(tmp_path, "spark.io.encryption.enabled=false")
    assert any(SENTINEL in path.read_bytes() for path in files)


def test_the_session_of_a_run_is_private(spark: SparkSession) -> None:
    assert spark.conf.get("spark.io.encryption.enabled") == "true"
    assert spark.conf.get("spark.local.dir") == str(scratch())
    assert any(path.name.startswith("blockmgr-") for path in scratch().iterdir())
    assert list(scratch().glob(".*.sock")), "who can write to one can speak to the driver"
    jvm = spark._jvm.ProcessHandle.current().pid()
    status = Path(f"/proc/{jvm}/status").read_text()
    assert "Umask:\t0077" in status
    mine = os.umask(0o022)
    os.umask(mine)
    assert mine != 0o077, "that of this process is the user's own"


def test_runs_are_their_owners_alone(spark: SparkSession, tmp_path: Path) -> None:
    """They hold what the public file must not: commitments, exact counts, single columns."""
    table = spark.range(40).selectExpr("id", "id * 7 % 40 as a")
    policy = {
        "columns": {"id": "identifier", "a": "quasi_identifier"},
        "output": {"format": "parquet", "path": str(tmp_path / "out")},
        "k": 4,
        "runs": str(tmp_path / "runs"),
        "audit": {"take": ["min_class_size"], "table": {"path": str(tmp_path / "measures")}},
    }
    before = os.umask(0o022)
    try:
        made = sparkanon.anonymize(table, policy, spark=spark)
        done = sparkanon.audit(table, made.data, policy, spark=spark)
    finally:
        os.umask(before)
    assert done.folder is not None
    found = [tmp_path / "runs", *(tmp_path / "runs").rglob("*")]
    assert {path.name for path in found} >= {"manifest.json", "report.json", done.folder.name}
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o755
    assert spark.read.parquet(str(tmp_path / "measures")).count() > 0
    assert stat.S_IMODE((tmp_path / "measures").stat().st_mode) == 0o700
