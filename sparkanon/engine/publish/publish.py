"""From a verified staged table to what readers see, in one step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from time import sleep
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.runs.ids import new_run_id
from sparkanon.engine.runs.manifest import for_readers
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.stores.folders import (
    check_replaceable,
    check_same_disk,
    check_writable,
    no_release,
    writing,
)
from sparkanon.engine.stores.listing import MANIFEST, list_files
from sparkanon.engine.stores.owned import scratch
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.engine.table.tables import path_literal, provider, read_staged, writer
from sparkanon.errors import InputError, Problem
from sparkanon.policy.checks import store_problems
from sparkanon.policy.model import Sink

_NOTE = "sparkanon_run_id"  # the field in the commit of a Delta table
_PROPERTY = "sparkanon.run_id"  # the property of a catalog table
_SUFFIX = r"\d{8}t\d{6}_[0-9a-f]{8}"  # a run id, in the name of an old table that a run put aside
_LOOKS, _PAUSE = 10, 1.0  # how often to look for a table that a run may be renaming, and seconds
_PARTS = r"`(?:[^`]|``)+`|[^.`]+"  # one part of a name in the catalog


def staging_for(
    spark: SparkSession, sink: Sink | None, folder: Place | None, *, dry_run: bool
) -> Staging:
    """Where the unverified table goes: beside the output, so that a rename can publish it.

    First restores an old release that a killed run had put aside, unless this is a dry run.
    Refuses an output that would replace anything but a release.
    """
    if sink is None:
        return Staging(scratch() / "release")
    if sink.format == "table":
        return _staging_for_table(spark, sink, folder, dry_run=dry_run)
    output = locate(spark, sink.place, "output.path")
    problems = list(store_problems(sink, objects=not output.has_folders))
    if problems:
        raise InputError(problems)
    if sink.format in ("csv", "parquet"):
        staging = Staging(output, folder, dry_run=dry_run)
        staging.prepare()
        if folder is not None:
            check_same_disk(folder, output)
        return staging
    with writing(output, "output"):
        _check_delta(spark, output)
    if folder is not None:
        check_writable(folder, "output.staging")
    check_writable(output, "output.path")
    return Staging(output, folder, dry_run=dry_run)


def _staging_for_table(
    spark: SparkSession, sink: Sink, folder: Place | None, *, dry_run: bool
) -> Staging:
    if not dry_run:
        _give_back(spark, sink.place)
    _check_table(spark, sink)
    folder = folder or _beside_table(spark, sink.place)
    if folder is None:
        text = "is required here: a private folder that the driver and all executors reach"
        raise InputError(Problem("output.staging", text))
    check_writable(folder, "output.staging")
    return Staging(folder / sink.place, folder, dry_run=dry_run)


def _beside_table(spark: SparkSession, name: str) -> Place | None:
    """A folder for private ones that the driver and all executors reach, if there is one."""
    if str(spark.conf.get("spark.master", "local")).startswith("local"):
        return scratch()
    folder = _location(spark, name)
    place = None if folder is None else locate(spark, folder, "output.staging")
    shared = place is not None and place.has_folders and not isinstance(place, Posix)
    return place.parent if place is not None and shared else None


def _check_output(spark: SparkSession, sink: Sink) -> None:
    """Refuse a Delta or catalog table that no run of ours has published."""
    if sink.format == "table":
        _check_table(spark, sink)
    else:
        _check_delta(spark, locate(spark, sink.place, "output.path"))


def _check_delta(spark: SparkSession, output: Place) -> None:
    if not (output / "_delta_log").is_dir():
        check_replaceable(output, output)
        return
    try:
        ours = _was_published(spark, path_literal(output.url))
    except AnalysisException:  # nothing there yet
        return
    if not ours:
        raise no_release("output.path", str(output))


def _give_back(spark: SparkSession, name: str) -> None:
    """Restore the old release of a run that was killed between its two renames.

    A run that is still alive takes the name again in a moment, so wait for it first.
    """
    for _ in range(_LOOKS):
        if spark.catalog.tableExists(name):
            return
        left = _old_tables(spark, name)
        if not left:
            return
        sleep(_PAUSE)
    _rename(spark, left[-1], name)


def _old_tables(spark: SparkSession, name: str) -> list[str]:
    """Old releases that runs put aside, oldest first: by the form of the name and our property."""
    *path, table = re.findall(_PARTS, name)
    table = table.strip("`").lower()
    inside = f"IN {'.'.join(path)} " if path else ""
    like = re.sub(r"\W", "*", table)
    found = spark.sql(f"SHOW TABLES {inside}LIKE '{like}__old_*'").collect()
    names = sorted(row["tableName"] for row in found if not row["isTemporary"])
    ours = re.compile(rf"{re.escape(table)}__old_{_SUFFIX}")
    full = [".".join([*path, f"`{old}`"]) for old in names if ours.fullmatch(old)]
    return [old for old in full if _has_property(spark, old)]


def _has_property(spark: SparkSession, name: str) -> bool:
    properties = spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
    return any(row["key"] == _PROPERTY for row in properties)


def _check_table(spark: SparkSession, sink: Sink) -> None:
    if not spark.catalog.tableExists(sink.place):
        return
    kind = provider(spark, sink.place)
    if kind == (sink.using or "parquet"):
        if kind == "delta" and _was_published(spark, sink.place):
            return
        if _has_property(spark, sink.place):
            return
    raise no_release("output.name", sink.place)


def check_apart(spark: SparkSession, table: str, private: Mapping[str, Place]) -> None:
    """Refuse private places (by their paths in the policy) in the folder of a catalog's table.

    Readers of the table can read its folder, and every run replaces it.
    """
    named = _location(spark, table)
    if named is None:
        return
    folder = locate(spark, named, "output.name")
    problems = [
        Problem(where, f"lies inside the folder of {table}, which is replaced and public")
        for where, place in private.items()
        if place.is_inside(folder)
    ]
    if problems:
        raise InputError(problems)


def _location(spark: SparkSession, name: str) -> str | None:
    """The folder of a table, or where it will be once there is one; None if nobody says."""
    if spark.catalog.tableExists(name):
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
        return next((str(r["data_type"]) for r in rows if r["col_name"] == "Location"), None)
    *path, table = re.findall(_PARTS, name)
    database = ".".join(path) or f"`{spark.catalog.currentDatabase()}`"
    try:
        rows = spark.sql(f"DESCRIBE DATABASE {database}").collect()
    except AnalysisException:  # no such database, which is an error when the table is written
        return None
    folder = next((str(r["info_value"]) for r in rows if r["info_name"] == "Location"), None)
    return f"{folder}/{table.strip('`').lower()}" if folder is not None else None


def _was_published(spark: SparkSession, table: str) -> bool:
    """Whether a Delta table's history knows a run of ours."""
    history = spark.sql(f"DESCRIBE HISTORY {table}")
    return not history.filter(F.col("userMetadata").contains(_NOTE)).isEmpty()


def publish(
    spark: SparkSession,
    staged: DataFrame,
    staging: Staging,
    schema: T.StructType,
    sink: Sink | None,
    manifest: Mapping[str, Any],
) -> DataFrame:
    """Publish these columns of what is staged, and give the table as readers see it.

    Without a sink the release lives in our scratch, as long as this process.
    """
    if sink is None:
        folder = scratch() / str(manifest["run_id"])
        staging.table.rename(folder)
        return read_staged(spark, folder.url, schema)
    public = staged.selectExpr(*map(quoted, schema.names))
    private = len(staged.columns) > len(schema.names)
    _replace(spark, public, staging, sink, for_readers(manifest, schema.names), private=private)
    if sink.format == "table":
        return spark.table(sink.place)
    if sink.format == "delta":
        return spark.read.format("delta").load(staging.output.url)
    return read_staged(spark, staging.output.url, schema, sink)


def _replace(
    spark: SparkSession,
    staged: DataFrame,
    staging: Staging,
    sink: Sink,
    manifest: dict[str, object],
    *,
    private: bool,
) -> None:
    """Put the new release where the old one is; `private`: the staged files hold more columns."""
    staging.check_held()
    if sink.format in ("csv", "parquet"):
        folder = staging.table
        if private or sink.format == "csv" or sink.partition_by or sink.options:
            folder = staging.path / "public"
            writer(staged, sink).format(sink.format).save(folder.url)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), "utf-8")
        list_files(folder)
        folder.open_up(staging.path)
        staging.publish(folder)
        return
    _check_output(spark, sink)  # again, because it may have changed since the start
    try:
        if sink.format == "delta":
            _overwrite_delta(staged, sink, manifest).save(staging.output.url)
        elif sink.using == "delta":
            _overwrite_delta(staged, sink, manifest).saveAsTable(sink.place)
        else:
            _swap_table(spark, staged, sink, str(manifest["run_id"]))
    except AnalysisException as error:
        where = "name" if sink.format == "table" else "path"
        text = f"{sink.place} cannot be written: {error.getCondition()}"
        raise InputError(Problem(f"output.{where}", text)) from None


def _overwrite_delta(
    staged: DataFrame, sink: Sink, manifest: dict[str, object]
) -> DataFrameWriter:
    made = writer(staged, sink).format("delta").mode("overwrite").option("overwriteSchema", "true")
    if any(set(name) & set(" ,;{}()\n\t=") for name in staged.columns):  # not in Parquet, then
        made = made.option("delta.columnMapping.mode", "name")
    return made.option("userMetadata", json.dumps({_NOTE: manifest["run_id"]}))


def _swap_table(spark: SparkSession, staged: DataFrame, sink: Sink, run_id: str) -> None:
    """Write a table of another name, then rename: the catalog never shows half a table.

    Between the two renames it shows none, and the next run mends a crash there; `using: delta`
    has no such moment.
    """
    suffix = new_run_id().replace("-", "_").lower()
    new, old = (_beside(sink.place, f"__{word}_{suffix}") for word in ("new", "old"))
    try:
        writer(staged, sink).format("parquet").saveAsTable(new)
        spark.sql(f"ALTER TABLE {new} SET TBLPROPERTIES ('{_PROPERTY}' = '{run_id}')")
        if spark.catalog.tableExists(sink.place):
            _rename(spark, sink.place, old)
            if not _has_property(spark, old):
                raise no_release("output.name", sink.place)
        _rename(spark, new, sink.place)
    except BaseException:
        if not spark.catalog.tableExists(sink.place) and spark.catalog.tableExists(old):
            _rename(spark, old, sink.place)
        spark.sql(f"DROP TABLE IF EXISTS {new}")
        raise
    spark.sql(f"DROP TABLE IF EXISTS {old}")


def _rename(spark: SparkSession, name: str, to: str) -> None:
    spark.sql(f"ALTER TABLE {name} RENAME TO {_inside(to)}")
    if any(column.isPartition for column in spark.catalog.listColumns(to)):
        # Spark's own catalog leaves the partitions at the old place: the new table would be
        # empty, and dropping the old one would delete the files of the new
        spark.sql(f"MSCK REPAIR TABLE {to} SYNC PARTITIONS")


def _beside(name: str, suffix: str) -> str:
    """A sibling's name, whether the table's own is quoted or not."""
    return f"{name[:-1]}{suffix}`" if name.endswith("`") else name + suffix


def _inside(name: str) -> str:
    """The name without its catalog, as RENAME TO wants it."""
    return ".".join(re.findall(_PARTS, name)[-2:])
