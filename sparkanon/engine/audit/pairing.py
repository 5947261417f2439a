"""The private place that keeps which released row was which record."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.files import local_path
from sparkanon.errors import InputError, Problem


def keep(pairs: Path, place: str, run_id: str) -> None:
    """Put the pairs where the policy says, readable by their owner alone."""
    target = local_path(place, "private.path")
    fresh, old = (target.with_name(f".{target.name}-{run_id}{tail}") for tail in ("", "-old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(pairs, fresh)  # it may be on another disk
    fresh.chmod(0o700)
    for path in fresh.iterdir():
        path.chmod(0o600)
    if target.exists():
        os.rename(target, old)
    os.rename(fresh, target)
    shutil.rmtree(old, ignore_errors=True)


def kept(spark: SparkSession, place: str) -> DataFrame | None:
    """The pairs of the last run, or None if there are none."""
    target = local_path(place, "private.path")
    if not (target / "_SUCCESS").is_file():
        return None
    return spark.read.parquet(str(target))


def check_same(pair: DataFrame, released: DataFrame, cells: Sequence[str]) -> None:
    """Whether this pairing belongs to this release: the same cells, whatever their order."""
    hashed = ", ".join(f"{z}, {z} is null" for z in cells)
    # of a class of even size nothing is left but the sum
    told = "count(1) as n", f"sum(cast(xxhash64({hashed}) as decimal(38, 0))) as cells"
    one, other = (table.selectExpr(*told).collect()[0] for table in (pair, released))
    if tuple(one) != tuple(other):
        raise InputError(
            Problem("private.path", "holds the pairing of another release; anonymize again")
        )
