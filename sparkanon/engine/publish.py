"""From a verified staged table to what readers see, in one step."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.files import MANIFEST, Staging, check_replaceable, local_path
from sparkanon.engine.tables import file_format, writer
from sparkanon.errors import InputError, Problem
from sparkanon.policy.model import Sink


def staging_for(spark: SparkSession, sink: Sink | None, run_id: str, scratch: Path) -> Staging:
    """Where the unverified table goes: beside the output, so that a rename can publish it."""
    if sink is None:
        return Staging(scratch / "release", run_id)
    if sink.staging is not None:
        beside = local_path(sink.staging) / Path(sink.place).name
        return Staging(beside, run_id)
    if sink.format in ("csv", "parquet"):
        output = local_path(sink.place)
        check_replaceable(output)
        return Staging(output, run_id)
    if sink.format == "delta" and _is_local(sink.place):
        return Staging(local_path(sink.place), run_id)
    if str(spark.conf.get("spark.master", "local")).startswith("local"):
        return Staging(scratch / "release", run_id)
    raise InputError(
        Problem("output.staging", "is required here: a private folder that all executors see")
    )


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
    as_staged: bool,
) -> None:
    """Publish `staged` (its public columns only). `as_staged`: its files can be used as they are."""
    if sink.format in ("csv", "parquet"):
        folder = staging.table
        if not as_staged:
            folder = staging.path / "public"
            writer(staged, sink).format(file_format(sink)).save(str(folder))
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        if sink.staging is not None:
            staging = Staging(local_path(sink.place), str(manifest["run_id"]))
        staging.publish(folder)
        return
    note = json.dumps({"sparkanon_run_id": manifest["run_id"]})
    if sink.format == "delta":
        _overwrite_delta(staged, sink, note).save(sink.place)
    elif sink.using == "delta":
        _overwrite_delta(staged, sink, note).saveAsTable(sink.place)
    else:
        _swap_table(spark, staged, sink, str(manifest["run_id"]))


def _overwrite_delta(staged: DataFrame, sink: Sink, note: str):  # type: ignore[no-untyped-def]
    made = writer(staged, sink).format("delta").mode("overwrite")
    return made.option("overwriteSchema", "true").option("userMetadata", note)


def _swap_table(spark: SparkSession, staged: DataFrame, sink: Sink, run_id: str) -> None:
    """Write a table of another name, then rename: the catalog never shows half a table."""
    suffix = run_id.replace("-", "_").lower()
    new, old = f"{sink.place}__new_{suffix}", f"{sink.place}__old_{suffix}"
    try:
        writer(staged, sink).format(sink.using or "parquet").saveAsTable(new)
        if spark.catalog.tableExists(sink.place):
            spark.sql(f"ALTER TABLE {sink.place} RENAME TO {old}")
        try:
            spark.sql(f"ALTER TABLE {new} RENAME TO {sink.place}")
        except Exception:
            if spark.catalog.tableExists(old):
                spark.sql(f"ALTER TABLE {old} RENAME TO {sink.place}")
            raise
    except AnalysisException:
        spark.sql(f"DROP TABLE IF EXISTS {new}")
        raise InputError(Problem("output.name", f"cannot write table {sink.place}")) from None
    spark.sql(f"DROP TABLE IF EXISTS {old}")
