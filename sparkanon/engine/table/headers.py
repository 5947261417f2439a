"""Whether the names of a table's columns are names, or the cells of its first person.

A CSV file without a header line gives its first record away as soon as column names are shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.engine.sql.names import quoted, text
from sparkanon.errors import InputError, Problem

# Nobody calls a column so.
_SURE = re.compile(
    r"""
      [-+]?\d*[.,]\d+ (e[-+]?\d+)? %?            # 3.75
    | -\d+ | \d{5,} | \+[\d\ /()-]{6,}           # -4, 41000, a phone number
    | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4} ([T\ ].*)? # a day
    | \S+@\S+\.\S+                               # a mail address
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
    | _c\d+ | \s*
    """,
    re.VERBOSE | re.IGNORECASE,
)


def check_header(table: DataFrame, place: str) -> None:
    """Refuse a CSV table whose header looks like data, without a word of it."""
    if looks_like_data(table.schema) or _holds_its_names(table):
        raise InputError(
            Problem(
                place,
                f"the first line looks like data, not like the names of {len(table.columns)} "
                "columns; say --no-header if the file has no header line (in a policy: "
                "input.options.header: false), or --header if these are the names",
            )
        )


def looks_like_data(schema: T.StructType) -> bool:
    """By the names: one that is surely a cell, or half of them, or all of numbers and dates."""
    names = [field.name.strip() for field in schema.fields]
    if any(_SURE.fullmatch(name) for name in names):
        return True
    typed = [f.name for f in schema.fields if not isinstance(f.dataType, T.StringType)]
    return 2 * _doubtful(names) >= max(len(names), 1) or (
        bool(typed) and _doubtful(typed) == len(typed)
    )


def _doubtful(names: Sequence[str]) -> int:
    return sum(_MAYBE.fullmatch(name.strip()) is not None for name in names)


def _holds_its_names(table: DataFrame) -> bool:
    """By the cells: the sex of the first person is that of others, too, and no name is a cell."""
    texts = [f.name for f in table.schema.fields if isinstance(f.dataType, T.StringType)]
    if not texts:
        return False
    same = [f"count_if({quoted(name)} = {text(name)}) > 0" for name in texts]
    (row,) = table.selectExpr(*same).collect()
    return 2 * sum(row) >= len(texts)
