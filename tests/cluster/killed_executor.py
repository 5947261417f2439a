"""Run by test_killed_executor.py in a process of its own: a session can be had only once."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
from itertools import product
from pathlib import Path

import psutil
from pyspark.sql import DataFrame

from sparkanon.engine.pipeline import anonymize
from sparkanon.engine.session.session import get_session
from sparkanon.groupings.refined import Refined

# where the first block appears, in the private folder
BLOCKS = {"files": "work", "spark": "table/_temporary/*/_temporary/*"}
BLOCK_ROWS = 400  # many blocks, so that a kill hits some before and some after
COLUMNS = dict.fromkeys(("age", "income", "height_cm", "weight_kg"), "quasi_identifier")


def executors() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("CoarseGrainedExecutorBackend" in part for part in child.cmdline()):
                found.append(child)
    return found


class KillOne:
    """Watches the steps of a run and kills an executor once a block is masked."""

    def __init__(self, folder: Path, by: str) -> None:
        self.killed = 0
        self._folder, self._block = folder, f".sparkanon-*/{BLOCKS[by]}/part-*.parquet"
        self._victim = executors()[0]

    def started(self, step: str) -> None:
        if step == "mask":
            threading.Thread(target=self._kill, daemon=True).start()

    def done(self, step: str, seconds: float, note: str) -> None:
        pass

    def _kill(self) -> None:
        while not self._is_masked():
            time.sleep(0.01)
        self._victim.send_signal(signal.SIGKILL)
        self.killed += 1

    def _is_masked(self) -> bool:
        with contextlib.suppress(FileNotFoundError):  # a folder that Spark has just renamed
            return any(self._folder.glob(self._block))
        return False


def run(
    table: DataFrame,
    folder: Path,
    by: str,
    crosses: bool,
    watcher: KillOne | None = None,
) -> dict[str, object]:
    """`crosses`: in two rounds, without the high effort that else comes with it and takes long."""
    Refined.block_rows = BLOCK_ROWS  # type: ignore[assignment, method-assign]
    Refined.crosses = crosses  # type: ignore[assignment, method-assign]
    policy = {
        "columns": COLUMNS | {"diagnosis": "sensitive"},
        "unlisted": "drop",
        "output": {"format": "parquet", "path": str(folder / "release"), "stage_by": by},
        "k": 5,
        "method": {"release": "permute"},  # draws: a retry must draw the same
        "seed": {"file": str(folder / "seed")},
        "runs": str(folder / "runs"),
    }
    release = anonymize(table, policy, watcher=watcher)
    assert release.data is not None
    columns = ", ".join(release.data.columns)
    found = release.data.selectExpr(f"sum(cast(xxhash64({columns}) as decimal(38,0))) h").first()
    assert found is not None
    blocks = release.manifest["blocks"]
    return {"rows": release.manifest["rows_out"], "hash": str(found["h"]), "blocks": blocks}


def main(folder: Path) -> None:
    spark = get_session(
        log=folder / "spark.log",
        conf={
            "spark.master": "local-cluster[2,1,1024]",
            "spark.executor.memory": "1g",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.enabled": "true",
            "spark.shuffle.io.maxRetries": "0",  # a dead executor does not come back
        },
    )
    table, reported = spark.read.parquet(str(folder / "people")), []
    for by, crosses in product(BLOCKS, (False, True)):
        storm = KillOne(folder, by)
        reported.append(run(table, folder, by, crosses, storm) | {"killed": storm.killed})
    print(json.dumps(reported))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
