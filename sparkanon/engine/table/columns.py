"""The columns of a table under a policy: what each becomes, in Spark and in Arrow."""

from __future__ import annotations

import datetime as dt
import difflib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.sql.names import RESERVED, col, quoted, text
from sparkanon.engine.table.headers import looks_like_data
from sparkanon.errors import MOST_SHOWN, InputError, Problem, counted
from sparkanon.numeric.records import Bools, Column, Floats, Grid, Scale
from sparkanon.policy import ColumnType, Policy, Role
from sparkanon.policy.checks import release_problems, scale_problems
from sparkanon.releases import Cells

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_NUMBERS = (*_WHOLE, T.FloatType, T.DoubleType, T.DecimalType)
_NO_ARROW = (T.YearMonthIntervalType, T.CalendarIntervalType, T.TimeType)
_ONE_TEXT = (*_WHOLE, T.BooleanType, T.DateType, T.StringType)  # Spark and Arrow write them alike
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_LENGTHS = ("__CHAR_VARCHAR_TYPE_STRING",)  # the only metadata that may stay
_NO_CHANCE = 3  # so many columns of the policy do not stand in another table by chance
_MICROS = (-62_135_596_800 * 10**6, 253_402_300_800 * 10**6 - 1)  # years 1 to 9999
_ENDS: dict[str, tuple[float, float]] = {
    "boolean": (0, 1),
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "date": (-719_162, 2_932_896),
    "timestamp": _MICROS,
    "timestamp_ntz": _MICROS,
    "float": (-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max)),
}


@dataclass(frozen=True)
class Quasi:
    """One quasi-identifier: its number for statistics and kernels, and the way back.

    Whole numbers beyond 2^53 are counted from `origin`, so that a double holds them exactly
    unless they span more than that; those and decimals are read to some 15 digits.
    """

    name: str
    type: ColumnType
    spark: T.DataType
    order: tuple[str, ...] | None = None
    as_double: bool = False
    as_text: bool = False
    allowed: tuple[str, ...] | None = None  # all values that a nominal column may hold
    origin: int = 0
    shift: str = ""  # the origin in SQL, where there is one

    @property
    def scale(self) -> Scale:
        return self.type.scale

    @property
    def released(self) -> T.DataType:
        if self.as_text:
            return T.StringType()
        return T.DoubleType() if self.as_double else self.spark

    @property
    def arrow(self) -> pa.DataType:
        return to_arrow_type(self.released, timezone="UTC")

    @property
    def whole(self) -> bool:
        """Whether the number behind a cell is an integer that `origin` is taken from."""
        steps = (*_WHOLE, T.DateType, T.TimestampType, T.TimestampNTZType)
        return self.order is None and isinstance(self.spark, steps)

    @property
    def outside(self) -> str | None:
        """Whether a cell is no day of the years 1 to 9999, in SQL; None where it has no days."""
        if not self.whole or self.spark.typeName() not in ("date", "timestamp", "timestamp_ntz"):
            return None
        low, high = _ENDS[self.spark.typeName()]
        return f"not {self.steps} between {int(low)} and {int(high)}"

    def holds(self, low: int, high: int) -> bool:
        """Whether the released type can hold all whole numbers from `low` to `high`."""
        least, most = _ENDS[self.spark.typeName()]
        return least <= low and high <= most

    @property
    def cell(self) -> str:
        return quoted(self.name)

    @property
    def clean(self) -> str:
        """The cell as it is used, in SQL: a NaN is a null."""
        if isinstance(self.spark, T.FloatType | T.DoubleType):
            return f"if(isnan({self.cell}), null, {self.cell})"
        return self.cell

    @property
    def number(self) -> str:
        """The cell as a double in SQL; of a nominal column its text."""
        if self.scale is Scale.NOMINAL:
            return f"cast({self.cell} as string)"
        if self.order is not None:
            listed = ", ".join(map(text, self.order))
            place = f"array_position(array({listed}), cast({self.cell} as string))"
            return f"cast(nullif({place}, 0) - 1 as double)"
        if self.whole:
            shift = f" - {self.shift}" if self.shift else ""
            return f"cast({self.steps}{shift} as double)"
        if isinstance(self.spark, T.BooleanType):
            return f"cast(cast({self.cell} as int) as double)"
        return f"cast({self.cell} as double)"

    @property
    def for_masking(self) -> str:
        """The cell that is handed to the kernels, in SQL.

        It is the cell itself, but a category that is published as text is turned into text by
        Spark where Arrow would write the same value otherwise.
        """
        as_text = self.as_text and self.scale is Scale.NOMINAL
        return self.number if as_text and not isinstance(self.spark, _ONE_TEXT) else self.cell

    @property
    def steps(self) -> str:
        """The integer behind a cell that is `whole`: days, microseconds, or the number itself."""
        if isinstance(self.spark, T.DateType):
            return f"unix_date({self.cell})"
        if isinstance(self.spark, T.TimestampType):
            return f"unix_micros({self.cell})"
        if isinstance(self.spark, T.TimestampNTZType):
            return f"timestampdiff(MICROSECOND, {_EPOCH}, {self.cell})"
        return f"cast({self.cell} as bigint)"

    def read(self, cells: pa.Array) -> tuple[Column, pa.Array | None]:
        """Arrow cells of a block as a kernel's column; of a nominal one the sorted categories."""
        null = _numpy(pc.is_null(cells)).astype(np.bool_)
        if self.scale is Scale.NOMINAL:
            coded = cells.dictionary_encode()
            order = pc.sort_indices(coded.dictionary)
            rank = np.empty(len(order), dtype=np.float64)
            rank[_numpy(order)] = np.arange(len(order))
            codes = _numpy(coded.indices.fill_null(0)).astype(np.int64)
            values = rank[codes] if len(rank) else np.zeros(len(codes))
            categories = coded.dictionary.take(order)
        else:
            categories = None
            values = self._numbers(cells)
        values = np.where(null, 0.0, values)
        return Column(self.name, self.scale, values, null, self.grid), categories

    def _numbers(self, cells: pa.Array) -> Floats:
        if self.order is not None:
            places = pc.index_in(cells.cast(pa.string()), pa.array(self.order, pa.string()))
            return np.asarray(_numpy(places.fill_null(0)), np.float64)
        if self.whole:
            steps = cells.cast(pa.int32()) if pa.types.is_date(cells.type) else cells
            steps = _numpy(steps.cast(pa.int64()).fill_null(self.origin))
            return np.asarray(steps - self.origin, np.float64)
        return np.asarray(_numpy(cells.cast(pa.float64()).fill_null(0.0)), np.float64)

    def snap(self, values: Floats) -> Floats:
        """The nearest values the released type can hold, still as a kernel's numbers."""
        return self.grid.nearest(values)

    @property
    def grid(self) -> Grid:
        """The kernel's numbers that the released type can hold."""
        if self.as_double or self.scale is Scale.NOMINAL:
            return Grid()
        if self.whole or self.order is not None or isinstance(self.spark, T.BooleanType):
            return Grid(0, *self._ends)
        if isinstance(self.spark, T.FloatType):
            return Grid(None, *self._ends, single=True)
        if isinstance(self.spark, T.DecimalType):
            return Grid(self.spark.scale, *self._ends)
        return Grid()

    @property
    def _ends(self) -> tuple[float, float]:
        """The limits of the released type; a synthetic number beyond them is cut to them."""
        if self.order is not None:
            return 0.0, len(self.order) - 1.0
        if isinstance(self.spark, T.DecimalType):
            most = _inside(Fraction(10**self.spark.precision - 1, 10**self.spark.scale))
            return -most, most
        low, high = _ENDS[self.spark.typeName()]
        if not self.whole:
            return low, high
        return _inside(max(int(low) - self.origin, -(2**63))), _inside(int(high) - self.origin)

    def write(self, values: Floats, null: Bools, categories: pa.Array | None) -> pa.Array:
        """A kernel's snapped numbers as Arrow cells of the released type."""
        if categories is not None:
            return categories.take(pa.array(values.astype(np.int64), mask=null))
        if self.order is not None:
            ranks = pa.array(values.astype(np.int64), mask=null)
            return pa.array(self.order, pa.string()).take(ranks).cast(self.arrow)
        if self.as_double:
            return pa.array(values + self.origin, pa.float64(), mask=null)
        if self.whole:
            most = 2.0**63 - 1024  # the largest double that is a bigint
            steps = np.minimum(values, most).astype(np.int64) + self.origin
            if pa.types.is_date(self.arrow):
                return pa.array(steps.astype(np.int32), pa.int32(), mask=null).cast(self.arrow)
            return pa.array(steps, pa.int64(), mask=null).cast(self.arrow)
        if isinstance(self.spark, T.BooleanType):
            return pa.array(values > 0.5, pa.bool_(), mask=null)
        return pa.array(values, pa.float64(), mask=null).cast(self.arrow)

    def cell_of(self, value: float | str) -> pa.Array:
        """A number of `number` as an Arrow cell of the column's own type; a category as text."""
        if isinstance(value, str):
            return pa.array([value], pa.string())
        own = replace(self, as_double=False, as_text=False)
        return own.write(own.snap(np.array([value])), np.zeros(1, np.bool_), None)

    @property
    def described(self) -> str:
        """Its type in a message: the policy's word and the table's."""
        return f"{self.type} ({self.spark.simpleString()})"

    def number_of(self, value: float | str) -> float | None:
        """The kernel's number for a value as a policy writes it, the nearest that the type holds.

        None if it is no value of such a column. Times without a zone are UTC.
        """
        if self.order is not None:
            known = str(value) in self.order
            return float(self.order.index(str(value))) if known else None
        if self.spark.typeName() in ("date", "timestamp", "timestamp_ntz"):
            steps = self._steps_of(str(value))
            return None if steps is None else float(steps - self.origin)
        if isinstance(value, str):
            return None
        try:
            number = float(value - self.origin)  # subtracted exactly, then made a double
        except OverflowError:
            return None
        return float(replace(self, as_double=False).snap(np.array([number]))[0])

    def _steps_of(self, text: str) -> int | None:
        """Days or microseconds since 1970."""
        try:
            time = dt.datetime.fromisoformat(text)
        except ValueError:
            return None
        has_zone = isinstance(self.spark, T.TimestampType)
        if time.tzinfo is not None and not has_zone:
            return None
        since = time.replace(tzinfo=time.tzinfo or dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        step = {"days": 1} if isinstance(self.spark, T.DateType) else {"microseconds": 1}
        return since // dt.timedelta(**step)

    def from_origin(self, low: int, high: int, views: HiddenViews) -> Quasi:
        """Count from `low` where doubles cannot hold the numbers, but their distance from it.

        `low` is a cell, so it stays in `views` and out of Spark's plans.
        """
        if max(abs(low), abs(high)) <= 2**53 or high - low >= 2**62:
            return self
        return replace(self, origin=low, shift=views.add(pa.array([low], pa.int64())))


def _inside(end: int | Fraction) -> float:
    """The nearest double to this end of a range that lies inside the range."""
    near = float(end)
    return near if abs(Fraction(near)) <= abs(Fraction(end)) else math.nextafter(near, 0.0)


def _numpy(array: pa.Array) -> Any:
    return array.to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class Columns:
    """What becomes of every column of the table."""

    quasi: tuple[Quasi, ...]
    released: tuple[T.StructField, ...]  # in the table's order, types as published
    weight: str | None = None  # the column that says how much a record counts

    @property
    def schema(self) -> T.StructType:
        return T.StructType(list(self.released))


def resolve(policy: Policy, schema: T.StructType) -> Columns:
    """Fit the policy to a table's schema, or say everything that does not fit."""
    schema = plain_schema(schema)
    problems = _name_problems(policy, schema)
    fields = {field.name: field for field in schema.fields}
    quasi: dict[str, Quasi] = {}
    for name in policy.quasi_identifiers:
        if name in fields:
            made = _quasi(policy, fields[name])
            problems += [made] if isinstance(made, Problem) else []
            if isinstance(made, Quasi):
                quasi[name] = made
                if policy.columns[name].type is None:
                    problems += scale_problems(policy, name, made.type)
    weight = next(iter(policy.with_role(Role.WEIGHT)), None)
    if weight in fields and not isinstance(fields[weight].dataType, _NUMBERS):
        own = fields[weight].dataType.simpleString()
        problems.append(Problem(f"columns.{weight}", f"is {own}; a weight must be a number"))
    if problems:
        raise InputError(problems)
    released = tuple(
        T.StructField(field.name, quasi[field.name].released)
        if field.name in quasi
        else T.StructField(field.name, field.dataType, True, field.metadata)
        for field in schema.fields
        if _is_released(policy, field.name)
    )
    return Columns(tuple(quasi.values()), released, weight)


def check_promise(policy: Policy, columns: Columns) -> None:
    """Once more, with the table's columns: only now is known what `unlisted: keep` keeps."""
    problems = release_problems(policy, others=len(columns.released) > len(columns.quasi))
    if problems:
        raise InputError(problems)


def plain_schema(schema: T.StructType) -> T.StructType:
    """The schema without what would travel along or change how cells are compared.

    Metadata can hold cells (the labels of a StringIndexer), and a collation takes different
    texts for equal ones: k and row keys must count by bytes. Only the lengths of char and
    varchar columns stay.
    """
    return T.StructType(
        [
            T.StructField(
                field.name,
                _plain_type(field.dataType),
                field.nullable,
                {key: field.metadata[key] for key in _LENGTHS if key in (field.metadata or {})},
            )
            for field in schema.fields
        ]
    )


def _plain_type(kind: T.DataType) -> T.DataType:
    if isinstance(kind, T.StructType):
        return plain_schema(kind)
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(_plain_type(kind.elementType), kind.containsNull)
    if isinstance(kind, T.MapType):
        ends = _plain_type(kind.keyType), _plain_type(kind.valueType)
        return T.MapType(*ends, kind.valueContainsNull)
    return T.StringType() if type(kind) is T.StringType else kind


def plain(table: DataFrame) -> DataFrame:
    """The table with texts that are compared by their bytes; any other stays as it is."""
    pairs = zip(table.schema.fields, plain_schema(table.schema).fields, strict=True)
    collated = {old.name: new.dataType for old, new in pairs if old.dataType != new.dataType}
    if not collated:
        return table
    return table.select(
        *(
            col(name).cast(collated[name]).alias(name) if name in collated else col(name)
            for name in table.columns
        )
    )


def _is_released(policy: Policy, name: str) -> bool:
    listed = policy.columns.get(name)
    if listed is None:
        return policy.unlisted == "keep"
    return listed.role is not Role.IDENTIFIER


def _name_problems(policy: Policy, schema: T.StructType) -> list[Problem]:
    """What is wrong with the names; those of the table only if they are surely names."""
    names = set(schema.names)
    found = sum(name in names for name in policy.columns)
    if _are_names(found, policy, schema):
        return [*_missing(policy, schema.names, names), *_unfit(policy, schema)]
    own = {f"columns.{name}" for name in policy.columns} | {"output.partition_by"}
    problems = [*_missing(policy, (), names), *_unfit(policy, schema)] if found else []
    shown = [problem for problem in problems if problem.path in own]
    if found and len(shown) == len(problems):
        return shown
    many = f"{found} of the {len(policy.columns)} columns" if found else "none of the"
    many += "" if found else f" {len(policy.columns)} columns"
    verb = "are" if found > 1 else "is"
    counts = (
        f"{many} of the policy {verb} among the {counted(len(names), 'column')} of the table, "
        "whose names are not shown because they may be cells; has the file a header line?"
    )
    return [Problem("columns", counts), *shown]


def _are_names(found: int, policy: Policy, schema: T.StructType) -> bool:
    """Whether these are names, and not the cells of a person who happens to match some."""
    if 2 * found < len(policy.columns):
        return False
    return found >= _NO_CHANCE or not looks_like_data(schema)


def _missing(policy: Policy, hints: Sequence[str], names: set[str]) -> Iterator[Problem]:
    missing = [name for name in policy.columns if name not in names]
    for i, name in enumerate(missing):
        near = difflib.get_close_matches(name, hints, n=3, cutoff=0.5) if i < MOST_SHOWN else []
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        yield Problem(f"columns.{name}", f"the table has no such column{hint}")


def _unfit(policy: Policy, schema: T.StructType) -> Iterator[Problem]:
    names = schema.names
    if policy.unlisted == "error":
        for name in names:
            if name not in policy.columns:
                yield Problem(
                    f"columns.{name}",
                    "is in the table but not in the policy; give it a role, or say "
                    "unlisted: drop or keep",
                )
    times = Counter(name.lower() for name in names)
    for name in dict.fromkeys(names):
        if times[name.lower()] > 1:
            yield Problem(f"columns.{name}", "the table has this name twice (case aside)")
    for field in schema.fields:
        if field.name.startswith(RESERVED):
            yield Problem(
                f"columns.{field.name}", f"names with {RESERVED} are reserved; rename it"
            )
        if _is_released(policy, field.name) and isinstance(field.dataType, _NO_ARROW):
            text = (
                f"a column of type {field.dataType.simpleString()} cannot travel; drop or cast it"
            )
            yield Problem(f"columns.{field.name}", text)
    for name in policy.output.partition_by if policy.output else ():
        if name not in names:
            yield Problem("output.partition_by", f"the table has no column '{name}'")


def _quasi(policy: Policy, field: T.StructField) -> Quasi | Problem:
    declared = policy.columns[field.name]
    path = f"columns.{field.name}"
    possible = _possible_types(field.dataType)
    own = field.dataType.simpleString()
    if not possible:
        return Problem(path, f"a column of type {own} cannot be a quasi-identifier")
    kind = declared.type or possible[0]
    if kind not in possible:
        return Problem(
            path,
            f"is declared {kind} but the table holds {own}; "
            f"declare it {' or '.join(possible)}, or change the column's type in the table",
        )
    text = isinstance(field.dataType, T.StringType)
    if kind is ColumnType.ORDINAL and text and declared.order is None:
        return Problem(f"{path}.order", "an ordinal text column needs its values, lowest first")
    if declared.order is not None and not isinstance(field.dataType, (*_WHOLE, T.StringType)):
        return Problem(f"{path}.order", f"is for text and whole numbers; {own} has its own order")
    if declared.as_ and not isinstance(field.dataType, (*_NUMBERS, T.BooleanType)):
        return Problem(f"{path}.as", f"cannot publish {own} as double")
    if declared.as_ and kind.scale is not Scale.NUMERIC:
        return Problem(f"{path}.as", f"a {kind} column has no mean to publish as double")
    release = policy.method.release
    order = None if declared.order is None else tuple(str(value) for value in declared.order)
    return Quasi(
        field.name,
        kind,
        field.dataType,
        order,
        as_double=declared.as_ is not None,
        as_text=release.cells is Cells.TEXT,
        allowed=release.allowed(field.name),
    )


def _possible_types(kind: T.DataType) -> Sequence[ColumnType]:
    """The ways a column can be read, the natural one first."""
    if isinstance(kind, _NUMBERS):
        return (ColumnType.NUMERIC, ColumnType.ORDINAL, ColumnType.NOMINAL)
    if isinstance(kind, T.StringType):
        return (ColumnType.NOMINAL, ColumnType.ORDINAL)
    if isinstance(kind, T.BooleanType):
        return (ColumnType.BOOLEAN, ColumnType.NOMINAL)
    if isinstance(kind, T.DateType):
        return (ColumnType.DATE, ColumnType.ORDINAL, ColumnType.NOMINAL)
    if isinstance(kind, T.TimestampType | T.TimestampNTZType):
        return (ColumnType.TIMESTAMP, ColumnType.ORDINAL, ColumnType.NOMINAL)
    return ()
