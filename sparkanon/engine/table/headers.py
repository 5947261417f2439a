"""Whether the column names of a CSV file are names, or the cells of its first record.

A CSV file without a header line gives its first record away as soon as column names are shown. So
the first line has to look like a header: no name looks like a cell, and either the columns below
hold numbers and dates where the first line holds none, or most names are made of words that
columns are usually called by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.engine.sql.names import quoted, text
from sparkanon.engine.table.vocabulary import (
    ALWAYS_IDENTIFIER,
    DEMOGRAPHIC,
    DESIGN,
    FILLERS,
    OFTEN_IDENTIFIER,
    TARGET,
    words_of,
)
from sparkanon.errors import InputError, Problem, counted

# What is never the name of a column.
_SURE = re.compile(
    r"""
      [-+]?\d*[.,]\d+ (e[-+]?\d+)? %?            # 3.75
    | -\d+ | \d{5,} | \+[\d\ /()-]{6,}           # -4, 41000, a phone number
    | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4} ([T\ ].*)? # a day
    | \S+@\S+\.\S+                               # a mail address
    | \d{1,2} [\ .-]{1,2} (jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])
      [a-z]* [\ .-]{1,2} \d{2,4}                   # and one in words
    | [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}  # a UUID
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What may be the name of a column or a cell: years, numbers, nothing (which Spark names _c0).
_MAYBE = re.compile(
    r"""
      [-+]?[\d.,'\ ]*\d[\d.,'\ ]* (e[-+]?\d+)? %?
    | \d{1,4}[-/.]\d{1,2} | \d{1,2}:\d{2} (:\d{2}.*)?
    | true | false | yes | no | null | none | nan | n/?a | [-+]?inf(inity)?
    | unknown | missing | [-?.*]
    | _c\d+ | \s*
    """,
    re.VERBOSE | re.IGNORECASE,
)


# Words that names are made of; words like hiv or pregnant are left out, as they may be cells.
_WORDS = ALWAYS_IDENTIFIER | OFTEN_IDENTIFIER | DEMOGRAPHIC | DESIGN | TARGET
_PLAIN = re.compile(r"[^\W\d]\w*([.-][^\W\d]\w*)*")  # age, marital-status, FIXED.ASSETS
_JOINED = re.compile(r"[^\W_]+(_[^\W_]+)+|[a-z]+[A-Z]\w*")  # has_nurs, homePhone
_SEPARATORS = ";|\t"


def check_header(table: DataFrame, place: str) -> None:
    """Refuse a CSV table whose first line may be data, without showing a word of it."""
    (only, *others) = table.columns
    if not others and set(only) & set(_SEPARATORS):
        text = "the first line is a single name that holds semicolons, bars or tabs; is one of "
        raise InputError(Problem(place, text + "these the separator? Say it with --sep"))
    if looks_like_data(table.schema) or _holds_its_names(table):
        raise InputError(
            Problem(
                place,
                "the first line is data or looks like it "
                f"({counted(len(table.columns), 'column')}); say --no-header if the "
                "file has no header line (in a policy: "
                "input.options.header: false), or --header if these are the names",
            )
        )


def looks_like_data(schema: T.StructType) -> bool:
    """Whether names and types alone leave it open that the first line is data."""
    names = [field.name.strip() for field in schema.fields]
    if any(_SURE.fullmatch(name) for name in names):
        return True
    if 2 * _doubtful(names) >= max(len(names), 1):
        return True
    typed = [f.name for f in schema.fields if not isinstance(f.dataType, T.StringType)]
    if typed and not _doubtful(typed):
        return False  # the first line holds words where all other lines hold numbers and dates
    pieces = [piece for name in names for piece in re.split(rf"[\s{_SEPARATORS}]+", name)]
    if any(_SURE.fullmatch(piece) for piece in pieces):
        return True
    return not all(map(_may_be_name, names)) or 2 * sum(map(_is_name, names)) <= len(names)


def _doubtful(names: Sequence[str]) -> int:
    return sum(_MAYBE.fullmatch(name.strip()) is not None for name in names)


def _may_be_name(name: str) -> bool:
    known = _WORDS | FILLERS
    return _PLAIN.fullmatch(name) is not None or _parts(name) <= known


def _is_name(name: str) -> bool:
    """Whether this is a name that nobody would write into a cell."""
    if _MAYBE.fullmatch(name) or not _may_be_name(name):
        return False
    if words_of(name) & _WORDS:
        return True
    # john_doe and deBoer are people
    return _JOINED.fullmatch(name) is not None and bool(words_of(name) & FILLERS)


def _parts(name: str) -> set[str]:
    """The words of a name, without units in brackets."""
    return {part.lower() for part in re.findall(r"[^\W_]+", re.sub(r"\(.*?\)", "", name))}


def _holds_its_names(table: DataFrame) -> bool:
    """Whether texts of the first line occur as cells of their columns, as those of a record do."""
    texts = [f.name for f in table.schema.fields if isinstance(f.dataType, T.StringType)]
    if not texts:
        return False
    same = [f"count_if({quoted(name)} = {text(name)}) > 0" for name in texts]
    (row,) = table.selectExpr(*same).collect()
    return 2 * sum(row) >= len(texts)
