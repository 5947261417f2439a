"""Column names as Spark wants them, and the names the engine keeps for itself."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

RESERVED = "__sparkanon"
KEY = "__sparkanon_key"  # hash of the whole row
BLOCK = "__sparkanon_block"  # leaf of the block tree
GROUP = "__sparkanon_group"  # private staging of releases that draw from groups
DRAWN = "__sparkanon_drawn_"  # hash of the original cells of one drawn block


def col(name: str) -> Column:
    """A column by its exact name: dots, spaces and backticks are part of it."""
    return F.col("`" + name.replace("`", "``") + "`")
