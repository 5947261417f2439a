"""The pairing: a private table that says which released row was which record."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.sql.rows import hash_of
from sparkanon.engine.stores.folders import check_ours, local_path
from sparkanon.engine.stores.listing import PAIRING, list_files
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import InputError, Problem, SparkanonError


def place_for(place: str, *, dry_run: bool) -> Staging:
    """A staging folder for the pairing, or an error before any work if it cannot be kept there."""
    target = local_path(place, "private.path")
    staging = Staging(target, check=_check_pairing, where="private", dry_run=dry_run)
    staging.prepare()
    return staging


def _check_pairing(found: Path, target: Path) -> None:
    check_ours(found, target, PAIRING, "private.path", "pairing")


def put_together(pairs: Path, staging: Staging) -> None:
    """Copy the pairs into the staging folder, so that whatever can fail fails before publishing.

    Only the owner can read the files, from the first byte on.
    """
    try:
        staging.table.mkdir(mode=0o700)
        for path in pairs.iterdir():  # not renamed, because it may be on another disk
            shutil.copyfile(path, staging.table / path.name)
        (staging.table / PAIRING).touch()
        list_files(staging.table)
        for path in staging.table.iterdir():
            path.chmod(0o600)
    except OSError as error:
        text = f"the pairing cannot be kept in {staging.output}: {error.strerror}"
        raise SparkanonError(Problem("private.path", f"{text}; nothing was published")) from None


def keep(staging: Staging) -> None:
    """Move the pairing to the place that the policy says, once its release is published."""
    try:
        staging.publish(staging.table)
    except SparkanonError as error:
        reason = error.problems[0].message
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
    # A sum, because an xor of hashes would cancel out pairs of equal rows.
    sums = "count(1) as n", f"sum(cast({hash_of(cells)} as decimal(38, 0))) as cells"
    one, other = (side.selectExpr(*sums).collect()[0] for side in (pair, table))
    if tuple(one) != tuple(other):
        text = f"holds the pairing of another {what}; anonymize again"
        raise InputError(Problem("private.path", text))
