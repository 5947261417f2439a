"""Names and literals in SQL, and the names the engine keeps for itself.

Expressions are written as SQL texts, because a wide policy needs hundreds of them, and each
`Column` object that is built costs several calls to the JVM.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

RESERVED = "__sparkanon"
KEY = "__sparkanon_key"  # hash of the whole row
BLOCK = "__sparkanon_block"  # leaf of the block tree
NEXT = "__sparkanon_next"  # leaf of the tree for the second round
START = "__sparkanon_start"  # group of the first round
FACTS = "__sparkanon_facts"  # what a block reports, in a row of its own
GROUP = "__sparkanon_group"  # private staging of releases that draw from groups
RULED = "__sparkanon_ruled_"  # a sensitive cell that a constraint looks at
DRAWN = "__sparkanon_drawn_"  # hash of the original cells of one drawn block


def quoted(name: str) -> str:
    """A column by its exact name: dots, spaces and backticks are part of it."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A literal of this text, whatever the session makes of backslashes and quotes."""
    return f"decode(unhex('{value.encode().hex()}'), 'UTF-8')"


def col(name: str) -> Column:
    """`quoted` as a Column."""
    return F.col(quoted(name))
