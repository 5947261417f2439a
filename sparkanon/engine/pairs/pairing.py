"""The private place that keeps which released row was which record."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.sql.rows import hash_of
from sparkanon.engine.stores.folders import Staging, check_ours, local_path
from sparkanon.engine.stores.listing import PAIRING, list_files
from sparkanon.errors import InputError, Problem, SparkanonError


def check_keepable(place: str) -> None:
    """Refuse a place that cannot be replaced, or holds something else, before any work is done."""
    target = local_path(place, "private.path")
    _check_pairing(target, target)


def _check_pairing(found: Path, target: Path) -> None:
    check_ours(found, target, PAIRING, "private.path", "pairing")


def keep(pairs: Path, place: str) -> None:
    """Put the pairs where the policy says, readable by their owner alone from the first byte."""
    target = local_path(place, "private.path")
    try:
        with Staging(target, check=_check_pairing) as staging:
            staging.table.mkdir(mode=0o700)
            for path in pairs.iterdir():  # copied: it may be on another disk
                shutil.copyfile(path, staging.table / path.name)
            (staging.table / PAIRING).touch()
            list_files(staging.table)
            for path in staging.table.iterdir():
                path.chmod(0o600)
            staging.publish(staging.table)
    except (OSError, SparkanonError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.problems[0].message
        text = f"the release is published, but its pairing was not kept: {reason}"
        raise SparkanonError(Problem("private.path", text)) from None


def kept(spark: SparkSession, place: str) -> DataFrame | None:
    """The pairs of the last run, or None if there are none."""
    target = local_path(place, "private.path")
    if not (target / PAIRING).is_file():
        return None
    return spark.read.parquet(str(target))


def check_same(
    pair: DataFrame, table: DataFrame, cells: Sequence[str], what: str = "release"
) -> None:
    """Whether this pairing belongs to this table: the same cells, whatever their order."""
    # a sum: equal rows, which a release is full of, would cancel out in an xor
    told = "count(1) as n", f"sum(cast({hash_of(cells)} as decimal(38, 0))) as cells"
    one, other = (side.selectExpr(*told).collect()[0] for side in (pair, table))
    if tuple(one) != tuple(other):
        text = f"holds the pairing of another {what}; anonymize again"
        raise InputError(Problem("private.path", text))
