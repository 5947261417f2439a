"""The block tree as a Spark expression.

Spark shows its plans on pages and in event logs, so no cut stands in them: thresholds and
categories come from tables of one row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from sparkanon.blocks import Among, Below, Cut, Hashed, Leaf, Node, Tree
from sparkanon.engine.sql.hidden import hidden
from sparkanon.engine.sql.names import KEY, RESERVED, quoted

# Deeper trees of conditions are slower in the JVM than a trip to Python, and so are longer lists
# of categories, which Spark compares one by one.
MOST_IN_SQL = 128
MOST_CATEGORIES = 64
_THRESHOLDS = f"{RESERVED}_thresholds"
_LISTS = f"{RESERVED}_lists"


def with_blocks(
    table: DataFrame,
    trees: Mapping[str, Tree],
    numbers: Mapping[str, str],
    nominal: Collection[str],
) -> DataFrame:
    """The table with the block of every row in each of these trees, as columns of these names.

    A block follows from the numbers (in SQL) of the row's cells and its key alone.
    """
    for name, tree in trees.items():
        table = _with_block(table, name, tree, numbers, nominal)
    return table


def _with_block(
    table: DataFrame,
    name: str,
    tree: Tree,
    numbers: Mapping[str, str],
    nominal: Collection[str],
) -> DataFrame:
    cuts = list(_cuts(tree.root))
    longest = max((len(cut.categories) for cut in cuts if isinstance(cut, Among)), default=0)
    if tree.blocks > MOST_IN_SQL or longest > MOST_CATEGORIES:
        used = sorted({cut.column for cut in cuts if not isinstance(cut, Hashed)})
        cells = (F.expr(numbers[column]) for column in used)
        assigned: SparkColumn = _assigner(tree, used, nominal)(F.col(KEY), *cells)
        return table.select("*", assigned.alias(name))
    thresholds = {cut.threshold for cut in cuts if isinstance(cut, Below)}
    lists = {cut.categories for cut in cuts if isinstance(cut, Among)}
    case = _Case(numbers, sorted(thresholds), sorted(lists, key=lambda one: sorted(map(str, one))))
    kept = [*map(quoted, table.columns), f"{case.of(tree.root)} as {name}"]
    return table.select("*", *case.known(table)).selectExpr(*kept)


class _Case:
    """A tree as nested conditions, which refer to its cuts by their places in two lists."""

    def __init__(
        self,
        numbers: Mapping[str, str],
        thresholds: Sequence[float],
        lists: Sequence[frozenset[str | None]],
    ) -> None:
        self._numbers = numbers
        self._thresholds = thresholds
        self._lists = lists

    def known(self, table: DataFrame) -> list[SparkColumn]:
        """The two lists, as columns that no plan shows."""
        named = [sorted(one for one in listed if one is not None) for listed in self._lists]
        values = {
            _THRESHOLDS: pa.array([list(self._thresholds)], pa.list_(pa.float64())),
            _LISTS: pa.array([named], pa.list_(pa.list_(pa.string()))),
        }
        spark = table.sparkSession
        return [hidden(spark, cell).alias(name) for name, cell in values.items() if len(cell[0])]

    def of(self, at: Node | Leaf) -> str:
        if isinstance(at, Leaf):
            return str(at.block)
        return f"if({self._condition(at.cut)}, {self.of(at.left)}, {self.of(at.right)})"

    def _condition(self, cut: Cut) -> str:
        if isinstance(cut, Hashed):
            return f"(shiftright({KEY}, {cut.bit}) & 1) = 0"
        cell = self._numbers[cut.column]
        if isinstance(cut, Below):
            place = self._thresholds.index(cut.threshold)
            return f"coalesce({cell} <= {_THRESHOLDS}[{place}], true)"
        place = self._lists.index(cut.categories)
        of_null = "true" if None in cut.categories else "false"
        return f"if({cell} is null, {of_null}, array_contains({_LISTS}[{place}], {cell}))"


def _cuts(at: Node | Leaf) -> Iterator[Cut]:
    if isinstance(at, Node):
        yield at.cut
        yield from _cuts(at.left)
        yield from _cuts(at.right)


def _assigner(tree: Tree, names: Sequence[str], nominal: Collection[str]) -> Any:
    def assign(key: pa.Array, *cells: pa.Array) -> pa.Array:
        plain = {
            name: np.array(cell.to_pylist(), dtype=object)
            if name in nominal
            else cell.cast(pa.float64()).to_numpy(zero_copy_only=False)
            for name, cell in zip(names, cells, strict=True)
        }
        return pa.array(tree.assign(plain, key.to_numpy(zero_copy_only=False)), pa.int32())

    return arrow_udf(assign, "int")  # type: ignore[call-overload]
