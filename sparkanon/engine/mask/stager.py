"""What a stager is: a way to mask all blocks and to write them where only we can read.

There are two. `files` lets the workers write, which is fast and wants a folder that the driver and
all executors see. `spark` lets Spark write, wherever Spark can write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from sparkanon.engine.mask.masking import Masking
from sparkanon.engine.stores.place import Place
from sparkanon.numeric.records import Floats


@dataclass(frozen=True)
class Target:
    """What is staged, and where."""

    spark: SparkSession
    schema: T.StructType  # public columns, then the private ones that the promise is verified by
    sensitive: tuple[str, ...]
    table: Place
    pairs: Place | None = None  # for the rows beside their originals, if they are to be compared


@dataclass(frozen=True)
class Placed:
    """The rows to mask, in partitions by their blocks.

    Their columns are called c0, c1, ..., because `mapInArrow` reads a dot in a name as access to a
    field of a struct. `names` are their own names.
    """

    rows: DataFrame
    names: tuple[str, ...]
    blocks: int
    second: int | None = None  # the blocks of the second round, where there is one


@dataclass(frozen=True)
class Reported:
    """What the blocks reported, taken together."""

    small: frozenset[int]  # blocks that have to be merged with their siblings
    done: bool  # whether the last round masked all of its blocks
    errors: Floats  # squared errors by column
    keys: tuple[int, int]  # xor and sum of the keys of all rows


class Stager(Protocol):
    """One attempt after another, until all blocks are done."""

    def __init__(self, target: Target) -> None: ...

    def mask(self, placed: Placed, masking: Masking) -> Reported:
        """Mask all blocks; what an earlier attempt wrote is thrown away."""
        ...

    def keep(self) -> None:
        """Put the rows of the last attempt, and the pairs if they are wanted, in their places."""
        ...
