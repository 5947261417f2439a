"""The block tree as a Spark expression."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from sparkanon.blocks import Below, Cut, Hashed, Leaf, Node, Tree
from sparkanon.engine.names import KEY, text

# Nested CASE WHENs beyond this are slower in the JVM than a trip to Python.
MOST_IN_SQL = 128


def block_of(tree: Tree, numbers: Mapping[str, str], nominal: Collection[str]) -> SparkColumn:
    """The block of a row, from the numbers (in SQL) of its cells and its key alone."""
    if tree.blocks <= MOST_IN_SQL:
        return F.expr(_case(tree.root, numbers))
    used = sorted(_columns_of(tree.root))
    cells = (F.expr(numbers[name]) for name in used)
    assigned: SparkColumn = _assigner(tree, used, nominal)(F.col(KEY), *cells)
    return assigned


def _case(at: Node | Leaf, numbers: Mapping[str, str]) -> str:
    if isinstance(at, Leaf):
        return str(at.block)
    left, right = _case(at.left, numbers), _case(at.right, numbers)
    return f"if({_condition(at.cut, numbers)}, {left}, {right})"


def _condition(cut: Cut, numbers: Mapping[str, str]) -> str:
    if isinstance(cut, Hashed):
        return f"(shiftright({KEY}, {cut.bit}) & 1) = 0"
    cell = numbers[cut.column]
    if isinstance(cut, Below):
        return f"coalesce({cell} <= cast('{cut.threshold!r}' as double), true)"
    named = sorted(text(category) for category in cut.categories if category is not None)
    among = f"{cell} in ({', '.join(named)})" if named else f"{cell} is null and null"
    return f"coalesce({among}, {'true' if None in cut.categories else 'false'})"


def _columns_of(at: Node | Leaf) -> set[str]:
    if isinstance(at, Leaf):
        return set()
    own = set() if isinstance(at.cut, Hashed) else {at.cut.column}
    return own | _columns_of(at.left) | _columns_of(at.right)


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
