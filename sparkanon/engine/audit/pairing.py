"""The private place that keeps which released row was which record."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.files import local_path
from sparkanon.errors import InputError, Problem, SparkanonError

_MARK = "_sparkanon_pairing"  # only a folder that has it may be replaced


def check_keepable(place: str) -> None:
    """Refuse a place that cannot be replaced, or holds something else, before any work is done."""
    target = local_path(place, "private.path")
    if target.exists() and not (target / _MARK).is_file():
        text = f"{place} exists and is no pairing of sparkanon; move it away or choose another"
        raise InputError(Problem("private.path", text))


def keep(pairs: Path, place: str, run_id: str) -> None:
    """Put the pairs where the policy says, readable by their owner alone from the first byte."""
    target = local_path(place, "private.path")
    fresh, old = (target.with_name(f".{target.name}-{run_id}{tail}") for tail in ("", "-old"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir(mode=0o700)
        for path in pairs.iterdir():  # copied: it may be on another disk
            shutil.copyfile(path, fresh / path.name)
            (fresh / path.name).chmod(0o600)
        (fresh / _MARK).touch(mode=0o600)
        if target.exists():
            os.rename(target, old)
        os.rename(fresh, target)
    except OSError as error:
        text = f"the release is published, but its pairing was not kept: {error.strerror}"
        raise SparkanonError(Problem("private.path", text)) from None
    finally:
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)


def kept(spark: SparkSession, place: str) -> DataFrame | None:
    """The pairs of the last run, or None if there are none."""
    target = local_path(place, "private.path")
    if not (target / _MARK).is_file():
        return None
    return spark.read.parquet(str(target))


def check_same(
    pair: DataFrame, table: DataFrame, cells: Sequence[str], what: str = "release"
) -> None:
    """Whether this pairing belongs to this table: the same cells, whatever their order."""
    hashed = ", ".join(f"{cell}, {cell} is null" for cell in cells)
    # a sum: equal rows, which a release is full of, would cancel out in an xor
    told = "count(1) as n", f"sum(cast(xxhash64({hashed}) as decimal(38, 0))) as cells"
    one, other = (side.selectExpr(*told).collect()[0] for side in (pair, table))
    if tuple(one) != tuple(other):
        text = f"holds the pairing of another {what}; anonymize again"
        raise InputError(Problem("private.path", text))
