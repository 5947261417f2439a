"""Read the columns of a release, whatever types another tool gave them, as the original's."""

from __future__ import annotations

from pyspark.sql import types as T

from sparkanon.engine.cells.generalized import is_readable, is_suppressed, number, spans, words
from sparkanon.engine.cells.kinds import TEXT, Kind, Reading, kind_of
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.table.columns import Quasi
from sparkanon.errors import Problem
from sparkanon.numeric.records import Scale

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_BROKEN = (T.FloatType, T.DoubleType)
_NUMBERS = (*_WHOLE, *_BROKEN, T.DecimalType)
_STAMPS = (T.TimestampType, T.TimestampNTZType)
_PLAIN = (T.BooleanType, T.DateType, *_STAMPS)  # types with one text for each value
_TEXTS = (T.StringType, T.CharType, T.VarcharType)
_DAY = "86400000000d"


def released_number(name: str, original: Quasi, released_type: T.DataType) -> str | Problem:
    """The SQL of a released cell as `Quasi.number` of the original with origin 0.

    A double; of a nominal original its text. Null where suppressed, NaN or unreadable.
    """
    cell = quoted(name)
    if original.scale is Scale.NOMINAL:
        found = _as_text(cell, original.spark, released_type)
    elif isinstance(released_type, _TEXTS) or original.order is not None:
        labels = _as_text(cell, original.spark, released_type)
        found = None if labels is None else number(labels, kind_of(original))
    else:
        found = _as_number(cell, original.spark, released_type)
    if found is not None:
        return found
    types = released_type.simpleString(), original.spark.simpleString()
    return Problem(
        f"columns.{name}",
        f"is {types[0]} in the release, which cannot be compared with {types[1]}",
    )


def released_cover(name: str, original: Quasi, released_type: T.DataType) -> str | None:
    """The SQL of what a released cell covers; None: it can only be a value or null.

    Of a nominal original a text (`generalized.words`), else an array (`generalized.spans`).
    """
    cell = quoted(name)
    if isinstance(released_type, _TEXTS):
        nominal = original.scale is Scale.NOMINAL
        return words(cell) if nominal else spans(cell, kind_of(original))
    if original.scale is Scale.NOMINAL:  # even a number can be the code of a wider category
        return _as_text(cell, original.spark, released_type)
    return None


def unreadable_cell(original: Quasi, released_type: T.DataType) -> str | None:
    """Whether a released cell cannot be read as a number, in SQL; None if every cell can."""
    if original.scale is Scale.NOMINAL:
        return None
    if not isinstance(released_type, _TEXTS) and original.order is None:
        return None
    labels = _as_text(quoted(original.name), original.spark, released_type)
    return None if labels is None else f"not {is_readable(labels, kind_of(original))}"


def _as_text(cell: str, original: T.DataType, released: T.DataType) -> str | None:
    """The text of the cell as the original's type would write it."""
    if isinstance(released, _TEXTS):
        return f"if({is_suppressed(cell, TEXT)}, null, cast({cell} as string))"
    plain = f"cast({cell} as string)"
    if type(released) is type(original) and not isinstance(released, T.DecimalType):
        return _without_nan(cell, released, plain)
    if isinstance(released, _NUMBERS) and isinstance(original, (*_NUMBERS, *_TEXTS)):
        # pandas turns the integer 1 into 1.0 if another cell of the column is missing
        to = "bigint" if isinstance(original, _TEXTS) else original.simpleString()
        same = f"try_cast({cell} as {to})"
        own = f"if({same} = {cell}, cast({same} as string), {plain})"
        return _without_nan(cell, released, own)
    if isinstance(original, _TEXTS) and isinstance(released, _PLAIN):
        return plain
    if isinstance(original, T.DateType) and isinstance(released, _STAMPS):
        day = f"cast({cell} as date)"
        return f"cast(if({day} = {cell}, {day}, null) as string)"
    return None


def _as_number(cell: str, original: T.DataType, released: T.DataType) -> str | None:
    if isinstance(original, (*_NUMBERS, T.BooleanType)) and isinstance(released, _NUMBERS):
        return _without_nan(cell, released, f"cast({cell} as double)")
    if isinstance(original, T.BooleanType) and isinstance(released, T.BooleanType):
        return f"cast(cast({cell} as int) as double)"
    if not isinstance(released, (T.DateType, *_STAMPS)):
        return None
    if isinstance(original, T.DateType):
        if isinstance(released, T.DateType):
            return f"cast(unix_date({cell}) as double)"
        local = Kind(Reading.TIMESTAMP_NTZ).micros(f"cast({cell} as timestamp_ntz)")
        return f"{local} / {_DAY}"  # a mean of dates falls within a day
    if isinstance(original, _STAMPS):
        stamp = f"cast({cell} as {original.simpleString()})"
        return f"cast({Kind(Reading[original.typeName().upper()]).micros(stamp)} as double)"
    return None


def _without_nan(cell: str, kind: T.DataType, value: str) -> str:
    return f"if(isnan({cell}), null, {value})" if isinstance(kind, _BROKEN) else value
