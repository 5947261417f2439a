"""Whether the names of a table's columns are names, or the cells of its first person.

A CSV file without a header line gives its first record away as soon as column names are shown. So
the names have to prove that they are some: no name looks like a cell, and what stands over numbers
and dates is none, or most names are made of words that columns are called by.
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
from sparkanon.errors import InputError, Problem

# Nobody calls a column so.
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
# Some call a column so: years, numbers, nothing at all (which Spark calls _c0).
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


# Words of names; those for what is sensitive (hiv, pregnant) stand in cells as well.
_WORDS = ALWAYS_IDENTIFIER | OFTEN_IDENTIFIER | DEMOGRAPHIC | DESIGN | TARGET
_PLAIN = re.compile(r"[^\W\d]\w*([.-][^\W\d]\w*)*")  # age, marital-status, FIXED.ASSETS
_JOINED = re.compile(r"[^\W_]+(_[^\W_]+)+|[a-z]+[A-Z]\w*")  # has_nurs, homePhone
_SEPARATORS = ";|\t"


def check_header(table: DataFrame, place: str) -> None:
    """Refuse a CSV table whose header is none, or may be none, without a word of it."""
    (only, *others) = table.columns
    if not others and set(only) & set(_SEPARATORS):
        text = "the first line is one single name that holds semicolons, bars or tabs; is this "
        raise InputError(Problem(place, text + "another separator? Say it with --sep"))
    if looks_like_data(table.schema) or _holds_its_names(table):
        raise InputError(
            Problem(
                place,
                f"the first line looks like data, or cannot be told from it ({len(table.columns)} "
                "columns); say --no-header if the file has no header line (in a policy: "
                "input.options.header: false), or --header if these are the names",
            )
        )


def looks_like_data(schema: T.StructType) -> bool:
    """By the names and types alone: whether they are not proven to be names."""
    names = [field.name.strip() for field in schema.fields]
    if any(_SURE.fullmatch(name) for name in names):
        return True
    if 2 * _doubtful(names) >= max(len(names), 1):
        return True
    typed = [f.name for f in schema.fields if not isinstance(f.dataType, T.StringType)]
    if typed and not _doubtful(typed):
        return False  # the line holds words where all others hold numbers and dates
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
    """Whether nobody would write it into a cell."""
    if _MAYBE.fullmatch(name) or not _may_be_name(name):
        return False
    if words_of(name) & _WORDS:
        return True
    # john_doe and deBoer are people
    return _JOINED.fullmatch(name) is not None and bool(words_of(name) & FILLERS)


def _parts(name: str) -> set[str]:
    """The words alone: without units in brackets."""
    return {part.lower() for part in re.findall(r"[^\W_]+", re.sub(r"\(.*?\)", "", name))}


def _holds_its_names(table: DataFrame) -> bool:
    """By the cells: the sex of the first person is that of others, too, and no name is a cell."""
    texts = [f.name for f in table.schema.fields if isinstance(f.dataType, T.StringType)]
    if not texts:
        return False
    same = [f"count_if({quoted(name)} = {text(name)}) > 0" for name in texts]
    (row,) = table.selectExpr(*same).collect()
    return 2 * sum(row) >= len(texts)
