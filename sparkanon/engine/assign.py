"""The block tree as a Spark expression.

Spark shows its plans on pages and in event logs, so categories stand in it as their hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from sparkanon.blocks import Among, Below, Cut, Hashed, Leaf, Node, Tree
from sparkanon.engine.names import KEY

# Nested CASE WHENs beyond this are slower in the JVM than a trip to Python.
MOST_IN_SQL = 128


def block_of(
    spark: SparkSession, tree: Tree, numbers: Mapping[str, str], nominal: Collection[str]
) -> SparkColumn:
    """The block of a row, from the numbers (in SQL) of its cells and its key alone."""
    if tree.blocks <= MOST_IN_SQL:
        return F.expr(_case(tree.root, numbers, _hashes(spark, tree)))
    used = sorted({cut.column for cut in _cuts(tree.root) if not isinstance(cut, Hashed)})
    cells = (F.expr(numbers[name]) for name in used)
    assigned: SparkColumn = _assigner(tree, used, nominal)(F.col(KEY), *cells)
    return assigned


def _hashes(spark: SparkSession, tree: Tree) -> dict[str, int]:
    """Of every category that is cut by, as Spark hashes a cell; two may share one by chance."""
    cuts = (cut for cut in _cuts(tree.root) if isinstance(cut, Among))
    named = {category for cut in cuts for category in cut.categories if category is not None}
    if not named:
        return {}
    listed = spark.createDataFrame(pa.table({"c": pa.array(sorted(named), pa.string())}))
    return {row["c"]: row["h"] for row in listed.selectExpr("c", "xxhash64(c) as h").collect()}


def _case(at: Node | Leaf, numbers: Mapping[str, str], hashes: Mapping[str, int]) -> str:
    if isinstance(at, Leaf):
        return str(at.block)
    left, right = (_case(below, numbers, hashes) for below in (at.left, at.right))
    return f"if({_condition(at.cut, numbers, hashes)}, {left}, {right})"


def _condition(cut: Cut, numbers: Mapping[str, str], hashes: Mapping[str, int]) -> str:
    if isinstance(cut, Hashed):
        return f"(shiftright({KEY}, {cut.bit}) & 1) = 0"
    cell = numbers[cut.column]
    if isinstance(cut, Below):
        return f"coalesce({cell} <= cast('{cut.threshold!r}' as double), true)"
    named = sorted(hashes[category] for category in cut.categories if category is not None)
    listed = ", ".join(f"cast('{one}' as bigint)" for one in named)
    among = f"xxhash64({cell}) in ({listed})" if named else "false"
    # the hash of a null is a number like others
    return f"if({cell} is null, {'true' if None in cut.categories else 'false'}, {among})"


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
