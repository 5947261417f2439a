"""A tree of cuts: which block a record belongs to, as a function of its own cells alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.records import Labels

Cells = Mapping[str, npt.NDArray[np.float64] | npt.NDArray[np.object_]]


@dataclass(frozen=True)
class Below:
    """Left: nulls and values up to the threshold. A null is a NaN in `Cells`."""

    column: str
    threshold: float


@dataclass(frozen=True)
class Among:
    """Left: these categories, and None if nulls go left as well."""

    column: str
    categories: frozenset[str | None]


@dataclass(frozen=True)
class Hashed:
    """Left: rows whose key has this bit clear. For records that no value distinguishes."""

    bit: int


Cut = Below | Among | Hashed


@dataclass(frozen=True)
class Leaf:
    block: int = 0


@dataclass(frozen=True)
class Node:
    cut: Cut
    left: Node | Leaf
    right: Node | Leaf


@dataclass(frozen=True)
class Tree:
    """Blocks are numbered from 0 in the order of the leaves."""

    root: Node | Leaf

    def __post_init__(self) -> None:
        numbers = iter(range(10**9))
        object.__setattr__(self, "root", _numbered(self.root, numbers))

    @property
    def blocks(self) -> int:
        return _count(self.root)

    def without(self, small: frozenset[int]) -> Tree:
        """Merge blocks into their siblings: the cut above such a leaf is not made."""
        return Tree(_pruned(self.root, small) or Leaf())

    def assign(self, cells: Cells, keys: npt.NDArray[np.int64]) -> Labels:
        """The block of every record, O(n depth); the engine computes the same in SQL."""
        blocks = np.zeros(len(keys), dtype=np.int32)
        todo: list[tuple[Node | Leaf, npt.NDArray[np.int64]]] = [
            (self.root, np.arange(len(keys), dtype=np.int64))
        ]
        while todo:
            at, rows = todo.pop()
            if isinstance(at, Leaf):
                blocks[rows] = at.block
                continue
            left = goes_left(at.cut, cells, keys, rows)
            todo += [(at.left, rows[left]), (at.right, rows[~left])]
        return blocks


def goes_left(
    cut: Cut, cells: Cells, keys: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of these rows the cut sends to the left."""
    if isinstance(cut, Hashed):
        return np.asarray((keys[rows] >> cut.bit) & 1 == 0)
    values = cells[cut.column][rows]
    if isinstance(cut, Below):
        return ~(np.asarray(values, dtype=np.float64) > cut.threshold)
    return np.fromiter((v in cut.categories for v in values), dtype=np.bool_, count=len(rows))


def regions(tree: Tree) -> list[dict[str, tuple[float, float]]]:
    """For each block, the range of every column that was cut by value on the way to it.

    Nulls go left at every such cut, and no range holds them.
    """
    found: list[dict[str, tuple[float, float]]] = []
    todo: list[tuple[Node | Leaf, dict[str, tuple[float, float]]]] = [(tree.root, {})]
    while todo:
        at, region = todo.pop()
        if isinstance(at, Leaf):
            found.append(region)
            continue
        left, right = region, region
        if isinstance(at.cut, Below):
            low, high = region.get(at.cut.column, (-np.inf, np.inf))
            left = region | {at.cut.column: (low, min(high, at.cut.threshold))}
            right = region | {at.cut.column: (max(low, at.cut.threshold), high)}
        todo += [(at.right, right), (at.left, left)]  # blocks are numbered from the left
    return found


def _numbered(at: Node | Leaf, numbers: Iterator[int]) -> Node | Leaf:
    if isinstance(at, Leaf):
        return Leaf(next(numbers))
    return Node(at.cut, _numbered(at.left, numbers), _numbered(at.right, numbers))


def _count(at: Node | Leaf) -> int:
    return 1 if isinstance(at, Leaf) else _count(at.left) + _count(at.right)


def _pruned(at: Node | Leaf, small: frozenset[int]) -> Node | Leaf | None:
    if isinstance(at, Leaf):
        return None if at.block in small else at
    left, right = _pruned(at.left, small), _pruned(at.right, small)
    if left is None or right is None:
        return left or right
    return Node(at.cut, left, right)
