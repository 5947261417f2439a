"""How one value is written in the text of a release, and the numbers it stands for.

A value can be coarse by itself (the year 2020 is 366 days), so it has a first and a last number:
those of `Quasi.number` with origin 0. Everything here is SQL text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from pyspark.sql import types as T

from sparkanon.engine.sql.names import text
from sparkanon.engine.table.columns import Quasi
from sparkanon.numeric.records import Scale

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_TRUE, _FALSE = "'true', 't', 'yes', 'y'", "'false', 'f', 'no', 'n'"

# The patterns never backtrack (`++`, `?+`), and no group in them repeats, because Java's matcher
# recurses on groups: the time for a cell of a million digits must be linear in its length.
_NUMBER = r"[+-]?+(?:\d++(?:\.(?!\.)\d*+)?+|\.\d++)(?:[eE][+-]?+\d++)?+"  # 30..40 is a range
_DAY = r"\d{4}(?:-\d{2}(?!\d)(?:-\d{2}(?!\d)%s)?)?"  # 2018-2020 is a range of years
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0{1,9})?)?)?"
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?%s)?"
_ZONE = r"(?:Z|[+-]\d{2}:\d{2})?"


class Reading(Enum):
    NUMBER = auto()
    FLOAT = auto()  # the text 0.1 is the nearest float, because the original is a float
    BOOLEAN = auto()
    DATE = auto()
    TIMESTAMP = auto()  # in the session's time zone
    TIMESTAMP_NTZ = auto()
    RANK = auto()  # the place in a list of values
    TEXT = auto()  # stands for no number


@dataclass(frozen=True)
class Kind:
    """What the cells of a released column stand for."""

    reading: Reading
    order: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.reading in (Reading.NUMBER, Reading.FLOAT)

    @property
    def is_calendar(self) -> bool:
        return self.reading in (Reading.DATE, Reading.TIMESTAMP, Reading.TIMESTAMP_NTZ)

    @property
    def has_free_words(self) -> bool:
        """Whether any word, also `NA` or `?`, may be a value."""
        return self.reading in (Reading.RANK, Reading.TEXT)

    @property
    def pattern(self) -> str:
        """A regular expression, without capturing groups, of one value."""
        match self.reading:
            case Reading.BOOLEAN:
                return rf"(?i:true|false|yes|no|[tfyn]|{_NUMBER})"
            case Reading.DATE:
                return _DAY % _MIDNIGHT
            case Reading.TIMESTAMP:
                return _DAY % (_TIME % _ZONE)
            case Reading.TIMESTAMP_NTZ:
                return _DAY % (_TIME % "")
            case Reading.RANK:
                longest_first = sorted((v.strip() for v in self.order), key=len, reverse=True)
                return f"(?:{'|'.join(map(re.escape, longest_first))})"
        return _NUMBER

    def first(self, value: str) -> str:
        """The least number of a text that fits `pattern`; null for a date that does not exist."""
        match self.reading:
            case Reading.NUMBER:
                return f"try_cast({value} as double)"
            case Reading.FLOAT:
                return f"cast(try_cast({value} as float) as double)"
            case Reading.BOOLEAN:
                word = f"lower({value})"
                number = f"try_cast({value} as double)"
                words = f"when {word} in ({_TRUE}) then 1d when {word} in ({_FALSE}) then 0d"
                return f"case {words} else {number} end"
            case Reading.DATE:
                return f"cast(unix_date({_first_day(value)}) as double)"
            case Reading.TIMESTAMP | Reading.TIMESTAMP_NTZ:
                day = self.micros(f"cast({_first_day(value)} as {self._stamp})")
                exact = self.micros(f"try_cast({value} as {self._stamp})")
                return f"cast(if(length({value}) > 10, {exact}, {day}) as double)"
            case Reading.RANK:
                listed = ", ".join(text(label.strip()) for label in self.order)
                return f"cast(nullif(array_position(array({listed}), {value}), 0) - 1 as double)"
        return "cast(null as double)"

    def last(self, value: str) -> str:
        """The greatest number of a text that fits `pattern`."""
        if self.reading is Reading.DATE:
            return f"cast(unix_date({_last_day(value)}) as double)"
        if self.is_calendar:
            midnight = f"cast(date_add({_last_day(value)}, 1) as {self._stamp})"
            day = f"{self.micros(midnight)} - 1"
            return f"if(length({value}) > 10, {self.first(value)}, cast({day} as double))"
        return self.first(value)

    @property
    def _stamp(self) -> str:
        return self.reading.name.lower()

    def micros(self, stamp: str) -> str:
        """The integer behind a timestamp of this kind."""
        if self.reading is Reading.TIMESTAMP:
            return f"unix_micros({stamp})"
        return f"timestampdiff(MICROSECOND, {_EPOCH}, {stamp})"


TEXT = Kind(Reading.TEXT)


def kind_of(original: Quasi) -> Kind:
    """How text in the release of this quasi-identifier is read."""
    if original.scale is Scale.NOMINAL:
        return TEXT
    if original.order is not None:
        return Kind(Reading.RANK, original.order)
    readings: dict[type[T.DataType], Reading] = {
        T.BooleanType: Reading.BOOLEAN,
        T.DateType: Reading.DATE,
        T.TimestampType: Reading.TIMESTAMP,
        T.TimestampNTZType: Reading.TIMESTAMP_NTZ,
        T.FloatType: Reading.FLOAT,
    }
    return Kind(readings.get(type(original.spark), Reading.NUMBER))


def _first_day(value: str) -> str:
    day = f"left({value}, 10)"
    return f"try_cast(concat({day}, substr('0000-01-01', length({day}) + 1)) as date)"


def _last_day(value: str) -> str:
    return (
        f"case length({value}) when 4 then try_cast(concat({value}, '-12-31') as date) "
        f"when 7 then last_day({_first_day(value)}) else {_first_day(value)} end"
    )
