"""The centre of a shrinking set of records: running means, nulls and modes.

A state is a set of flat arrays, because numba classes cannot be cached on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
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


@tight
def uncount(tree: Ints, rank: int) -> None:
    """Take one record of this rank out of the counts of one coordinate; O(log width)."""
    node = len(tree) // 2 + rank
    tree[node] -= 1
    node //= 2
    while node > 0:
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
        node //= 2


@tight
def mode(tree: Ints) -> int:
    """The lowest of the most frequent ranks; O(log width)."""
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if tree[node] < tree[node + 1]:
            node += 1
    return node - len(tree) // 2


@tight
def is_null(metric: Metric, j: int, value: float) -> bool:
    """Whether coordinate `j` stands where Gower puts a missing number."""
    return bool(metric.capped and not metric.codes[j] and value > NULL_AT * metric.caps[j])


class Centre(NamedTuple):
    """What is known about the records that remain."""

    sums: Floats  # (d,) of the numbers
    nulls: Ints  # (d,)
    ranks: Ints  # (c, n) of the code coordinates
    tree: Ints  # (c, 2 * width)
    table: Floats  # (c, most distinct codes)


@kernel
def make_centre(values: Floats, metric: Metric) -> Centre:
    """The state for all records of `values` (d, n); sums and nulls need a `recount`."""
    d, codes = values.shape[0], metric.codes
    ranks, distinct = code_ranks(values, codes)
    table, tree = code_values(values, codes, ranks, distinct), count_tree(ranks, distinct)
    return Centre(np.zeros(d), np.zeros(d, np.int32), ranks, tree, table)


@tight
def recount(state: Centre, values: Floats, metric: Metric, here: Bools) -> None:
    """Sums and null counts of the records that are `here`, from scratch: stops rounding drift."""
    for j in range(values.shape[0]):
        total, nulls = 0.0, 0
        for i in range(values.shape[1]):
            if not here[i]:
                continue
            if is_null(metric, j, values[j, i]):
                nulls += 1
            else:
                total += values[j, i]
        state.sums[j], state.nulls[j] = total, nulls


@tight
def forget(state: Centre, values: Floats, metric: Metric, i: int) -> None:
    """Take record `i` out of the state; O(d + c log width)."""
    c = 0
    for j in range(values.shape[0]):
        if metric.codes[j]:
            uncount(state.tree[c], state.ranks[c, i])
            c += 1
        elif is_null(metric, j, values[j, i]):
            state.nulls[j] -= 1
        else:
            state.sums[j] -= values[j, i]


@tight
def centre(state: Centre, metric: Metric, left: int, out: Floats) -> None:
    """Centre of the `left` remaining records: mean, null if most are null, mode of codes."""
    c = 0
    for j in range(len(out)):
        if metric.codes[j]:
            out[j] = state.table[c, mode(state.tree[c])]
            c += 1
        elif 2 * state.nulls[j] > left:
            out[j] = 2.0 * metric.caps[j]
        else:
            out[j] = state.sums[j] / (left - state.nulls[j])


@kernel
def centre_of(values: Floats, metric: Metric) -> Floats:
    """The centre of all records of `values` (d, n); O(n d), with codes O(n log n) for each."""
    state, point = make_centre(values, metric), np.empty(len(values))
    recount(state, values, metric, np.ones(values.shape[1], np.bool_))
    centre(state, metric, values.shape[1], point)
    return point
