"""Whether executors see a folder of the driver, looked at before any row is written there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from sparkanon.engine.mask.masking import Batches
from sparkanon.engine.session.workers import in_worker
from sparkanon.errors import InputError, Problem

_ROWS = 4096  # of the table that is asked; by default Spark makes a partition of it for every slot


@dataclass(frozen=True)
class Looks:
    """Whether a worker sees the folder."""

    folder: str

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"seen": [Path(self.folder).is_dir()]})


def check_shared(spark: SparkSession, folder: Path) -> None:
    """Refuse a folder that not all executors see.

    Otherwise rows would stay on disks where nobody looks for them. An executor that is added later
    is not asked; then files are missing in the end, and nothing is published.
    """
    seen = spark.range(_ROWS).mapInArrow(Looks(str(folder)), "seen boolean")
    if not seen.filter("not seen").isEmpty():
        raise not_shared()


def not_shared() -> InputError:
    text = "driver and executors do not see the same folder; take a store that all of them reach, "
    text += "or name a folder that they share in output.staging"
    return InputError(Problem("output", text))
