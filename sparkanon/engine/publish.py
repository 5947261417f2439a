"""From a verified staged table to what readers see, in one step."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F

from sparkanon.engine.files import (
    MANIFEST,
    Staging,
    check_replaceable,
    check_same_disk,
    local_path,
    no_release,
)
from sparkanon.engine.tables import path_literal, provider, writer
from sparkanon.errors import InputError, Problem
from sparkanon.policy.model import Sink

_NOTE = "sparkanon_run_id"  # in the commit of a Delta table
_PROPERTY = "sparkanon.run_id"  # of a catalog table
_PARTS = r"`(?:[^`]|``)+`|[^.`]+"  # of a name in the catalog


def staging_for(spark: SparkSession, sink: Sink | None, run_id: str, scratch: Path) -> Staging:
    """Where the unverified table goes: beside the output, so that a rename can publish it.

    Refuses an output that would replace anything but a release.
    """
    if sink is None:
        return Staging(scratch / "release", run_id)
    folder = local_path(sink.staging, "output.staging") if sink.staging is not None else None
    if sink.format in ("csv", "parquet"):
        output = local_path(sink.place)
        check_replaceable(output)
        if folder is not None:
            check_same_disk(folder, output)
        return Staging(output, run_id, folder)
    if sink.format == "table":
        _check_table(spark, sink)
    else:
        _check_delta(spark, sink)
    if folder is not None:
        return Staging(folder / "release", run_id)
    if sink.format == "delta" and _is_local(sink.place):
        return Staging(local_path(sink.place), run_id)
    if str(spark.conf.get("spark.master", "local")).startswith("local"):
        return Staging(scratch / "release", run_id)
    raise InputError(
        Problem("output.staging", "is required here: a private folder that all executors see")
    )


def _check_delta(spark: SparkSession, sink: Sink) -> None:
    if _is_local(sink.place):
        folder = local_path(sink.place)
        if not (folder / "_delta_log").is_dir():
            check_replaceable(folder)
            return
    try:
        ours = _was_published(spark, path_literal(sink.place))
    except AnalysisException:  # nothing there yet
        return
    if not ours:
        raise no_release("output.path", sink.place)


def _give_back(spark: SparkSession, name: str) -> None:
    """A run that was killed between its two renames left the old release under another name."""
    *path, table = re.findall(_PARTS, name)
    inside = f"IN {'.'.join(path)} " if path else ""
    left = spark.sql(f"SHOW TABLES {inside}LIKE '{table.strip('`').lower()}__old_*'").collect()
    if left and not spark.catalog.tableExists(name):
        _rename(spark, ".".join([*path, f"`{left[-1]['tableName']}`"]), name)


def _check_table(spark: SparkSession, sink: Sink) -> None:
    _give_back(spark, sink.place)
    if not spark.catalog.tableExists(sink.place):
        return
    kind = provider(spark, sink.place)
    if kind == (sink.using or "parquet"):
        if kind == "delta" and _was_published(spark, sink.place):
            return
        properties = spark.sql(f"SHOW TBLPROPERTIES {sink.place}").collect()
        if any(row["key"] == _PROPERTY for row in properties):
            return
    raise no_release("output.name", sink.place)


def _was_published(spark: SparkSession, table: str) -> bool:
    """Whether a Delta table's history knows a run of ours."""
    history = spark.sql(f"DESCRIBE HISTORY {table}")
    return not history.filter(F.col("userMetadata").contains(_NOTE)).isEmpty()


def _is_local(path: str) -> bool:
    scheme, colon, _ = path.partition(":")
    return not colon or scheme == "file" or "/" in scheme


def publish(
    spark: SparkSession,
    staged: DataFrame,
    staging: Staging,
    sink: Sink,
    manifest: dict[str, object],
    *,
    private: bool,
) -> None:
    """Publish `staged`, the public columns; `private`: the staged files hold others besides."""
    if sink.format in ("csv", "parquet"):
        folder = staging.table
        if private or sink.format == "csv" or sink.partition_by or sink.options:
            folder = staging.path / "public"
            writer(staged, sink).format(sink.format).save(str(folder))
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        staging.publish(folder)
        return
    try:
        if sink.format == "delta":
            _overwrite_delta(staged, sink, manifest).save(sink.place)
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
    suffix = run_id.replace("-", "_").lower()
    new, old = (_beside(sink.place, f"__{word}_{suffix}") for word in ("new", "old"))
    try:
        writer(staged, sink).format("parquet").saveAsTable(new)
        spark.sql(f"ALTER TABLE {new} SET TBLPROPERTIES ('{_PROPERTY}' = '{run_id}')")
        if spark.catalog.tableExists(sink.place):
            _rename(spark, sink.place, old)
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
