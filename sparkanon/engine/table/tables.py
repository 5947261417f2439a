"""Tables in and out: CSV, Parquet, Delta and the catalog."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession
from pyspark.sql import types as T

from sparkanon.catalogue import CATALOGUE, measure_of
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.sql.names import RESERVED, quoted
from sparkanon.engine.sql.rows import row_hash
from sparkanon.errors import InputError, Problem, SparkanonError
from sparkanon.policy import ColumnType, Policy, Role
from sparkanon.policy.checks import name_problems
from sparkanon.policy.model import Sink, Source

_UNREADABLE = ("FAILED_READ_FILE", "MALFORMED", "CANNOT_READ", "UNABLE_TO_INFER", "CORRUPT")
_BAD = f"{RESERVED}_bad"
_NESTED = (T.ArrayType, T.MapType, T.StructType, T.VariantType, T.BinaryType)
_NOT_HELD: dict[str, tuple[type[T.DataType], ...]] = {
    "csv": (*_NESTED, T.NullType),
    "delta": (T.DayTimeIntervalType,),
}


@dataclass(frozen=True)
class Table:
    """What was read, and which version of it if it is a Delta table."""

    data: DataFrame
    version: int | None = None


def read(spark: SparkSession, source: Source, policy: Policy | None = None) -> Table:
    """Open the input, or say why it cannot be read."""
    problems = list(name_problems(source, "input"))
    if problems:  # a source that did not come from a checked policy
        raise InputError(problems)
    try:
        if source.path is not None:
            _check_reachable(spark, source.path)
        return _READERS[source.format](spark, source, policy)
    except InputError:
        raise
    except AnalysisException as error:
        no_delta = "does not exist or is no Delta table"
        reason = {
            "PATH_NOT_FOUND": "does not exist",
            "TABLE_OR_VIEW_NOT_FOUND": "is not in the catalog",
            "DELTA_TABLE_NOT_FOUND": no_delta,
            "DELTA_MISSING_DELTA_TABLE": no_delta,
            "DELTA_TABLE_ONLY_OPERATION": no_delta,
            "UNABLE_TO_INFER_SCHEMA": f"holds no {source.format} data",
            "COLUMN_ALREADY_EXISTS": "has a column name twice (case aside)",
            "DELTA_VERSIONS_NOT_CONTIGUOUS": "is a damaged Delta table",
        }.get(str(error.getCondition()), f"cannot be read as {source.format}")
        raise InputError(Problem(_path(source), f"{source.place} {reason}")) from None
    except Exception as error:
        if "CSV header does not conform to the schema" in str(error):
            raise _other_header(source) from None
        if is_unreadable(error):
            raise unreadable(source) from None
        text = f"{source.place} cannot be read as {source.format} ({type(error).__name__})"
        raise InputError(Problem(_path(source), text)) from None


def _check_reachable(spark: SparkSession, path: str) -> None:
    """Say in words why a store cannot be read: an unknown one, no permission, no credentials."""
    place = locate(spark, path, "input.path")
    try:
        place.is_there()
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror}"
        raise InputError(Problem("input.path", text)) from None


def given_or_read(
    spark: SparkSession, df: DataFrame | None, policy: Policy, what: str = "DataFrame"
) -> Table:
    """The table that was given, or what the policy's `input` says."""
    if df is not None:
        return Table(df)
    if policy.input is None:
        raise InputError(Problem("input", f"is required when no {what} is given"))
    return read(spark, policy.input, policy)


def _other_header(source: Source) -> InputError:
    return InputError(
        Problem(
            _path(source),
            f"{source.place}: the header does not name the columns as expected, each once; if the "
            "file has no header line, say input.options.header: false",
        )
    )


def unreadable(source: Source | None) -> InputError:
    if source is None:
        return InputError("the table cannot be read")
    text = f"{source.place} cannot be read as {source.format}: a file is damaged or malformed"
    return InputError(Problem(_path(source), text))


def is_unreadable(error: Exception) -> bool:
    """Whether Spark failed because of the input's files, not because of us."""
    if isinstance(error, SparkanonError):
        return False
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    text = condition or str(error)
    return any(mark in text for mark in _UNREADABLE)


def _path(source: Source) -> str:
    return f"input.{'name' if source.format == 'table' else 'path'}"


def _reader(
    spark: SparkSession, source: Source, defaults: Mapping[str, str] | None = None
) -> DataFrameReader:
    chosen = {k: _text(v) for k, v in source.options.items()}
    return spark.read.options(**{**(defaults or {}), **chosen})


def _text(value: str | bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_parquet(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    return Table(_reader(spark, source).parquet(source.place))


def _read_table(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    if provider(spark, source.place) != "delta":
        return Table(_reader(spark, source).table(source.place))
    version = _latest(spark, source.place)
    return Table(
        _reader(spark, source).option("versionAsOf", version).table(source.place), version
    )


def _read_delta(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    version = source.version
    if version is None:
        version = _latest(spark, path_literal(source.place))
    reader = _reader(spark, source).format("delta").option("versionAsOf", version)
    return Table(reader.load(source.place), version)


def _latest(spark: SparkSession, table: str) -> int:
    """The version to read, pinned so that every pass sees the same rows."""
    last = spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").first()
    return int(last["version"]) if last is not None else 0


def path_literal(path: str) -> str:
    """A path as an SQL literal; Delta takes relative ones in this form only."""
    return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


def provider(spark: SparkSession, name: str) -> str | None:
    """The format of a catalog table: parquet, delta, ...; None for a view."""
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    names = [row["col_name"] for row in rows]
    if "# Detailed Table Information" not in names:
        return None
    details = rows[names.index("# Detailed Table Information") :]
    return next(
        (str(r["data_type"]).lower() for r in details if r["col_name"] == "Provider"), None
    )


def _read_csv(spark: SparkSession, source: Source, policy: Policy | None) -> Table:
    """Read CSV with the types of `input.types`, else those of the policy, else inferred ones."""

    def reader(**options: str) -> DataFrameReader:
        made = {"header": "true", "enforceSchema": "false"} | options
        return _reader(spark, source, made)

    if source.types is not None:
        schema = _parsed(source.types)
    else:
        inferred = reader(inferSchema="true").csv(source.place).schema
        counted = _counted(policy) if policy is not None else frozenset[str]()
        schema = T.StructType([_declared(field, policy, counted) for field in inferred])
    if not _has_header(reader(header="false"), schema, source):
        raise _other_header(source)
    rows, bad = _count_lines(reader(mode="PERMISSIVE"), schema, source.place)
    if bad:
        text = f"{bad} of {rows} rows of {source.place} do not fit: other types or too many cells"
        raise InputError(Problem("input.path", text))
    if rows == 0:
        raise InputError(Problem("input", "the table is empty"))
    return Table(reader(mode="FAILFAST").schema(schema).csv(source.place))


def _has_header(reader: DataFrameReader, schema: T.StructType, source: Source) -> bool:
    """Whether the first line names the columns.

    This is checked before reading, because a task that finds another header would log it.
    """
    if _text(source.options.get("header", True)) != "true":
        return True
    lines = reader.option("header", "false").csv(source.place)
    cells = [name for name in lines.columns if re.fullmatch(r"_c\d+", name)]
    folders = {name.lower() for name in lines.columns} - set(cells)  # year=2025/part.csv
    first = lines.select(*cells).first()
    if first is None or None in first:  # Spark itself names a column that has no name
        return True
    expected = [name.lower() for name in schema.names]
    return [cell.lower() for cell in first] == [n for n in expected if n not in folders]


def _count_lines(reader: DataFrameReader, schema: T.StructType, path: str) -> tuple[int, int]:
    """Count all rows, and those that do not fit the schema.

    They are counted before reading, because a task that fails on a row would log it.
    """
    if not schema.fields:
        return 0, 0
    marked = T.StructType([*schema, T.StructField(_BAD, T.StringType())])
    lines = reader.option("columnNameOfCorruptRecord", _BAD).schema(marked).csv(path)
    every = f"bit_xor({row_hash(schema)})"  # uses every cell, because Spark parses no others
    counts = lines.selectExpr("count(1)", f"count_if({quoted(_BAD)} is not null)", every)
    ((rows, bad, _),) = counts.collect()
    return rows, bad


def _parsed(types: str) -> T.StructType:
    with contextlib.suppress(PySparkException):
        schema = T.StructType.fromDDL(types)
        if isinstance(schema, T.StructType) and len(schema):
            return schema
    raise InputError(Problem("input.types", "is not a list of columns: 'age INT, name STRING'"))


def _counted(policy: Policy) -> frozenset[str]:
    """Columns in which values count and not their spelling: 5, 5.0 and 05 are equal."""
    rules = (policy.constraints.l_diversity, policy.constraints.t_closeness)
    names = {name for rule in rules if rule is not None for name in policy.constrained(rule)}
    names |= {*policy.with_role(Role.WEIGHT)}
    names |= {name for need in policy.method.space.needs() for name in need.columns}
    gated = (CATALOGUE[measure_of(gate)[1]] for gate in policy.gates)
    if any(about.family == "attribute" for about in gated):
        names |= {*policy.with_role(Role.SENSITIVE)}
    return frozenset(names)


def _declared(
    field: T.StructField, policy: Policy | None, counted: frozenset[str]
) -> T.StructField:
    """The types of a CSV file; text stays text where no number is needed, so 01234 keeps its 0."""
    if policy is None or field.name in counted:
        return field
    text = T.StructField(field.name, T.StringType(), True)
    listed = policy.columns.get(field.name)
    if listed is None or listed.role is not Role.QUASI_IDENTIFIER:
        # from CSV to CSV, the text of a column that is not masked does not change
        return text if policy.output is not None and policy.output.format == "csv" else field
    if listed.type is ColumnType.NOMINAL or listed.order is not None:
        return text
    return field


_READERS: dict[str, Callable[[SparkSession, Source, Policy | None], Table]] = {
    "parquet": _read_parquet,
    "table": _read_table,
    "delta": _read_delta,
    "csv": _read_csv,
}


def writer(data: DataFrame, sink: Sink) -> DataFrameWriter:
    """A writer with the sink's options and partitions."""
    made = data.write
    options = {k: _text(v) for k, v in sink.options.items()}
    if sink.format == "csv":
        options = _EXACT_CSV | options
    made = made.options(**options)
    return made.partitionBy(*sink.partition_by) if sink.partition_by else made


def check_lines(sink: Sink, staged: DataFrame, schema: T.StructType) -> None:
    """Refuse rows that CSV cannot hold: Spark leaves out lines in which nothing stands."""
    inside = [name for name in schema.names if name not in sink.partition_by]
    if sink.format != "csv" or len(inside) > 1 or sink.options.get("nullValue"):
        return
    if not staged.filter(f"{quoted(inside[0])} is null").isEmpty():
        text = "csv leaves out the rows of a table of one column that hold a null; say "
        raise InputError(Problem("output.format", f"{text}output.options.nullValue, or parquet"))


# By default Spark trims blanks and drops microseconds when it writes or reads CSV.
_EXACT_CSV = {
    "header": "true",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def read_staged(
    spark: SparkSession, path: str, schema: T.StructType, sink: Sink | None = None
) -> DataFrame:
    """Read back what was written, with the types of the policy."""
    csv = sink is not None and sink.format == "csv"
    reader = spark.read.schema(schema).format("csv" if csv else "parquet")
    if sink is not None and csv:
        options = _EXACT_CSV | {k: _text(v) for k, v in sink.options.items()}
        reader = reader.options(**options, multiLine="true", mode="FAILFAST")
    # Spark puts partition columns last, whatever their place in the table was
    return reader.load(path).selectExpr(*map(quoted, schema.names))


def read_release(spark: SparkSession, sink: Sink, schema: T.StructType) -> DataFrame:
    """A folder that an earlier run published, if its columns are still those of the policy."""
    options = {k: _text(v) for k, v in sink.options.items()} | {"multiLine": "true"}
    reader = spark.read.format(sink.format).options(**_EXACT_CSV | options)
    try:
        found = reader.load(sink.place).columns
    except AnalysisException as error:
        missing = error.getCondition() == "PATH_NOT_FOUND"
        reason = "does not exist" if missing else "holds no release"
        raise InputError(Problem("output.path", f"{sink.place} {reason}")) from None
    if set(found) != set(schema.names):
        text = f"{sink.place} has other columns than this policy releases; give it as the release"
        raise InputError(Problem("output.path", text))
    return read_staged(spark, sink.place, schema, sink)


def as_source(sink: Sink) -> Source:
    """The same place to read from."""
    return Source(format=sink.format, path=sink.path, name=sink.name)


def check_writable(sink: Sink, schema: T.StructType) -> None:
    """Refuse what the format cannot hold before any work is done."""
    form = sink.using or "parquet" if sink.format == "table" else sink.format
    problems = [
        Problem(f"columns.{f.name}", f"{form} cannot hold type {f.dataType.simpleString()}")
        for f in schema.fields
        if isinstance(f.dataType, _NOT_HELD.get(form, ()))
    ]
    problems += [
        Problem("output.partition_by", f"'{name}' is of a type that makes no folder names")
        for name in sink.partition_by
        if isinstance(schema[name].dataType, _NESTED)
    ]
    if sink.partition_by and set(sink.partition_by) >= set(schema.names):
        problems.append(Problem("output.partition_by", "leaves no column for the files"))
    if problems:
        raise InputError(problems)
