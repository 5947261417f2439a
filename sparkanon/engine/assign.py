"""The block tree as a Spark expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from sparkanon.blocks import Below, Cut, Hashed, Leaf, Node, Tree
from sparkanon.engine.columns import Quasi
from sparkanon.engine.names import KEY, col
from sparkanon.numeric.records import Scale

# Nested CASE WHENs beyond this are slower in the JVM than a trip to Python.
MOST_IN_SQL = 128


def block_of(tree: Tree, quasi: Sequence[Quasi]) -> SparkColumn:
    """The block of a row, from its cells and its key alone."""
    numbers = {q.name: q.number(col(q.name)) for q in quasi}
    if tree.blocks <= MOST_IN_SQL:
        return _case(tree.root, numbers)
    used = sorted(_columns_of(tree.root))
    told = [q for q in quasi if q.name in used]
    assigned: SparkColumn = _assigner(tree, told)(F.col(KEY), *(numbers[q.name] for q in told))
    return assigned


def _case(at: Node | Leaf, numbers: Mapping[str, SparkColumn]) -> SparkColumn:
    if isinstance(at, Leaf):
        return F.lit(at.block)
    return F.when(_condition(at.cut, numbers), _case(at.left, numbers)).otherwise(
        _case(at.right, numbers)
    )


def _condition(cut: Cut, numbers: Mapping[str, SparkColumn]) -> SparkColumn:
    if isinstance(cut, Hashed):
        return F.shiftright(KEY, cut.bit).bitwiseAND(1) == 0
    cell = numbers[cut.column]
    if isinstance(cut, Below):
        return F.coalesce(cell <= F.lit(cut.threshold), F.lit(True))
    named = sorted(category for category in cut.categories if category is not None)
    return F.coalesce(cell.isin(named), F.lit(None in cut.categories))


def _columns_of(at: Node | Leaf) -> set[str]:
    if isinstance(at, Leaf):
        return set()
    own = set() if isinstance(at.cut, Hashed) else {at.cut.column}
    return own | _columns_of(at.left) | _columns_of(at.right)


def _assigner(tree: Tree, used: Sequence[Quasi]) -> Any:
    names = [q.name for q in used]
    nominal = {q.name for q in used if q.scale is Scale.NOMINAL}

    def assign(key: pa.Array, *cells: pa.Array) -> pa.Array:
        plain = {
            name: np.array(cell.to_pylist(), dtype=object)
            if name in nominal
            else cell.cast(pa.float64()).to_numpy(zero_copy_only=False)
            for name, cell in zip(names, cells, strict=True)
        }
        return pa.array(tree.assign(plain, key.to_numpy(zero_copy_only=False)), pa.int32())

    return arrow_udf(assign, "int")  # type: ignore[call-overload]
