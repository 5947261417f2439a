"""Tables in and out: CSV, Parquet, Delta and the catalog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession
from pyspark.sql import types as T

from sparkanon.engine.names import col
from sparkanon.errors import InputError, Problem
from sparkanon.policy import ColumnType, Policy
from sparkanon.policy.model import Sink, Source

_UNREADABLE = ("FAILED_READ_FILE", "MALFORMED", "CANNOT_READ", "UNABLE_TO_INFER", "CORRUPT")


@dataclass(frozen=True)
class Table:
    """What was read, and which version of it (Delta tells)."""

    data: DataFrame
    version: int | None = None


def read(spark: SparkSession, source: Source, policy: Policy | None = None) -> Table:
    """Open the input, or say why it cannot be read."""
    try:
        return _READERS[source.format](spark, source, policy)
    except AnalysisException as error:
        reason = {
            "PATH_NOT_FOUND": "does not exist",
            "TABLE_OR_VIEW_NOT_FOUND": "is not in the catalog",
            "DELTA_TABLE_NOT_FOUND": "is no Delta table",
            "DELTA_MISSING_DELTA_TABLE": "is no Delta table",
            "UNABLE_TO_INFER_SCHEMA": f"holds no {source.format} data",
            "DELTA_VERSIONS_NOT_CONTIGUOUS": "is a damaged Delta table",
        }.get(str(error.getCondition()), f"cannot be read as {source.format}")
        raise InputError(Problem(_path(source), f"{source.place} {reason}")) from None
    except PySparkException:
        raise unreadable(source) from None


def unreadable(source: Source | None) -> InputError:
    if source is None:
        return InputError("the table cannot be read")
    text = f"{source.place} cannot be read as {source.format}: a file is damaged or malformed"
    return InputError(Problem(_path(source), text))


def is_unreadable(error: Exception) -> bool:
    """Whether Spark failed because of the input's files, not because of us."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    text = condition or str(error)
    return any(mark in text for mark in _UNREADABLE)


def _path(source: Source) -> str:
    return f"input.{'name' if source.format == 'table' else 'path'}"


def _reader(spark: SparkSession, source: Source) -> DataFrameReader:
    return spark.read.options(**{k: _text(v) for k, v in source.options.items()})


def _text(value: str | bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_parquet(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    return Table(_reader(spark, source).parquet(source.place))


def _read_table(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    return Table(_reader(spark, source).table(source.place))


def _read_delta(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    version = source.version
    if version is None:  # pinned, so that every pass sees the same rows
        path = source.place.replace("`", "``")
        latest = spark.sql(f"DESCRIBE HISTORY delta.`{path}` LIMIT 1").first()  # noqa: S608
        version = int(latest["version"]) if latest is not None else 0
    reader = _reader(spark, source).format("delta").option("versionAsOf", version)
    return Table(reader.load(source.place), version)


def _read_csv(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    """Types as `input.types` declares; else as the policy's columns do; else inferred."""
    reader = _reader(spark, source)
    if "header" not in source.options:
        reader = reader.option("header", True)
    if source.types is not None:
        try:
            schema = T.StructType.fromDDL(source.types)
        except PySparkException:
            raise InputError(
                Problem("input.types", "is not a list of columns like 'age INT, name STRING'")
            ) from None
        return Table(reader.schema(schema).option("mode", "FAILFAST").csv(source.place))
    inferred = reader.option("inferSchema", True).csv(source.place).schema
    declared = T.StructType([_declared(field, policy) for field in inferred.fields])
    reader = _reader(spark, source).option("header", source.options.get("header", True))
    return Table(reader.schema(declared).option("mode", "FAILFAST").csv(source.place))


def _declared(field: T.StructField, policy: Policy | None) -> T.StructField:
    """Text stays text where the policy says nominal or ordinal: 01234 is no number."""
    listed = policy.columns.get(field.name) if policy is not None else None
    if listed is not None and listed.type in (ColumnType.NOMINAL, ColumnType.ORDINAL):
        keeps = listed.type is ColumnType.ORDINAL and listed.order is None
        return field if keeps else T.StructField(field.name, T.StringType(), True)
    return field


_READERS: dict[str, Callable[[SparkSession, Source, Policy | None], Table]] = {
    "parquet": _read_parquet,
    "table": _read_table,
    "delta": _read_delta,
    "csv": _read_csv,
}


def writer(data: DataFrame, sink: Sink | None) -> DataFrameWriter:
    """A writer with the sink's options and partitions."""
    made = data.write
    if sink is None:
        return made
    made = made.options(**{k: _text(v) for k, v in sink.options.items()})
    if sink.format == "csv" and "header" not in sink.options:
        made = made.option("header", True)
    return made.partitionBy(*sink.partition_by) if sink.partition_by else made


def file_format(sink: Sink | None) -> str:
    """The format of staged files: that of the output where its files are published as they are."""
    return "csv" if sink is not None and sink.format == "csv" else "parquet"


def read_staged(
    spark: SparkSession, path: str, schema: T.StructType, sink: Sink | None
) -> DataFrame:
    """Read back what was written, with the types that were meant."""
    reader = spark.read.schema(schema).format(file_format(sink))
    if file_format(sink) == "csv" and sink is not None:
        reader = reader.options(**{k: _text(v) for k, v in sink.options.items()})
        reader = reader.option("header", _text(sink.options.get("header", True)))
        reader = reader.option("mode", "FAILFAST")
    # partition columns come last in the files' own order
    return reader.load(path).select(*(col(name) for name in schema.names))


def check_writable(sink: Sink, schema: T.StructType) -> None:
    """Refuse what the format cannot hold before any work is done."""
    nested = (T.ArrayType, T.MapType, T.StructType, T.BinaryType)
    if sink.format == "csv":
        held = [field.name for field in schema.fields if isinstance(field.dataType, nested)]
        if held:
            raise InputError([Problem(f"columns.{n}", "CSV cannot hold this type") for n in held])
    if sink.partition_by and set(sink.partition_by) >= set(schema.names):
        raise InputError(Problem("output.partition_by", "leaves no column for the files"))


