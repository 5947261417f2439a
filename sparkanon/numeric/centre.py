"""The centre of a shrinking set of records: running means, nulls and modes.

A state is a set of flat arrays, because numba classes can not be cached on disk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Bools, Floats

Ints = npt.NDArray[np.int32]

NULL_AT = 1.5  # in caps: numbers stand at 0..1, a null at 2


@kernel
def code_ranks(values: Floats, codes: Bools) -> tuple[Ints, Ints]:
    """Dense ranks (c, n) of the c code coordinates, and the number of distinct codes of each.

    Ranks keep the order of the codes, so the lowest rank is the lowest code. O(c n log n).
    """
    d, n = values.shape
    ranks = np.empty((codes.sum(), n), np.int32)
    distinct = np.zeros(codes.sum(), np.int32)
    c = 0
    for j in range(d):
        if not codes[j]:
            continue
        order = np.argsort(values[j])
        rank = 0
        for at in range(n):
            if at > 0 and values[j, order[at]] != values[j, order[at - 1]]:
                rank += 1
            ranks[c, order[at]] = rank
        distinct[c] = rank + 1
        c += 1
    return ranks, distinct


@kernel
def code_values(values: Floats, codes: Bools, ranks: Ints, distinct: Ints) -> Floats:
    """The code that stands behind every rank: (c, most distinct codes)."""
    width = 1
    for c in range(len(distinct)):
        width = max(width, distinct[c])
    table = np.zeros((len(distinct), width), np.float64)
    c = 0
    for j in range(values.shape[0]):
        if codes[j]:
            for i in range(values.shape[1]):
                table[c, ranks[c, i]] = values[j, i]
            c += 1
    return table


@kernel
def count_tree(ranks: Ints, distinct: Ints) -> Ints:
    """How often every rank occurs, as a tournament tree for each code coordinate: (c, 2 * width).

    Leaves at width.. hold the counts, every inner node the larger count of its two children, so
    that one removal and one search of the mode take O(log width).
    """
    width = 1
    for c in range(len(distinct)):
        while width < distinct[c]:
            width *= 2
    tree = np.zeros((len(distinct), 2 * width), np.int32)
    for c in range(len(distinct)):
        for i in range(ranks.shape[1]):
            tree[c, width + ranks[c, i]] += 1
        for node in range(width - 1, 0, -1):
            tree[c, node] = max(tree[c, 2 * node], tree[c, 2 * node + 1])
    return tree


@kernel
def uncount(tree: Ints, rank: int) -> None:
    """Take one record of this rank out of the counts of one coordinate; O(log width)."""
    node = len(tree) // 2 + rank
    tree[node] -= 1
    node //= 2
    while node > 0:
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
        node //= 2


@kernel
def mode(tree: Ints) -> int:
    """The lowest of the most frequent ranks; O(log width)."""
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if tree[node] < tree[node + 1]:
            node += 1
    return node - len(tree) // 2


@kernel
def is_null(value: float, cap: float, capped: bool, code: bool) -> bool:
    """Whether a coordinate stands where Gower puts a missing number."""
    return capped and not code and value > NULL_AT * cap
