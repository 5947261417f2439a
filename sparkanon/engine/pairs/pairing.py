"""The pairing: a private table that says which released row was which record."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.sql.rows import hash_of
from sparkanon.engine.stores.folders import check_ours, writing
from sparkanon.engine.stores.listing import PAIRING, list_files
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import InputError, Problem, SparkanonError


def place_for(target: Place, *, dry_run: bool) -> Staging:
    """A staging folder for the pairing, or an error before any work if it cannot be kept there."""
    staging = Staging(target, check=_check_pairing, where="private", dry_run=dry_run)
    staging.prepare()
    return staging


def _check_pairing(found: Place, target: Place) -> None:
    check_ours(found, target, PAIRING, "private.path", "pairing")


def put_together(spark: SparkSession, pairs: Place, staging: Staging) -> None:
    """Copy the pairs into the staging folder, so that whatever can fail fails before publishing.

    Only the owner can read the files, from the first byte on.
    """
    try:
        staging.table.mkdir(mode=0o700)
        _copy(spark, pairs, staging.table)
        _mark(staging.table)
        staging.table.close_up()
    except OSError as error:
        text = f"the pairing cannot be kept in {staging.output}: {error.strerror}"
        raise SparkanonError(Problem("private.path", f"{text}; nothing was published")) from None


def _mark(folder: Place) -> None:
    (folder / PAIRING).write_text("", "utf-8")
    list_files(folder)


def _copy_to_objects(spark: SparkSession, staging: Staging) -> None:
    target = staging.output
    with writing(target, "private"):
        staging.check_held()
        _check_pairing(target, target)
        target.remove_tree()
        _copy(spark, staging.table, target)
        _mark(target)


def _copy(spark: SparkSession, pairs: Place, folder: Place) -> None:
    """Not renamed, because it may be on another disk; by the executors where they reach it."""
    if isinstance(pairs, Posix) and isinstance(folder, Posix):
        for path in pairs.iterdir():
            shutil.copyfile(path, folder / path.name)
    else:
        spark.read.parquet(pairs.url).write.mode("append").parquet(folder.url)


def keep(spark: SparkSession, staging: Staging) -> None:
    """Move the pairing to the place that the policy says, once its release is published.

    An object store cannot move it in one step: there it is none until all of it is copied.
    """
    try:
        if staging.output.has_folders:
            staging.publish(staging.table)
        else:
            _copy_to_objects(spark, staging)
    except SparkanonError as error:
        reason = error.problems[0].message
        text = f"the release is published, but its pairing was not kept: {reason}"
        raise SparkanonError(Problem("private.path", text)) from None


def kept(spark: SparkSession, target: Place) -> DataFrame | None:
    """The pairs of the last run, or None if there are none."""
    if not (target / PAIRING).is_file():
        return None
    return spark.read.parquet(target.url)


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
