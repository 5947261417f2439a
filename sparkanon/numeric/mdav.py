"""MDAV, exactly: Domingo-Ferrer and Torra 2005, algorithm 5.1, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import (
    Ints,
    code_ranks,
    code_values,
    count_tree,
    is_null,
    mode,
    uncount,
)
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Bools, Floats


@kernel
def running(
    values: Floats, caps: Floats, capped: bool, codes: Bools, left: int, sums: Floats, nulls: Ints
) -> None:
    """Sums and null counts of the first `left` records, from scratch: stops rounding drift."""
    for j in range(values.shape[0]):
        sums[j] = 0.0
        nulls[j] = 0
        for i in range(left):
            if is_null(values[j, i], caps[j], capped, codes[j]):
                nulls[j] += 1
            else:
                sums[j] += values[j, i]


@kernel
def centre(
    caps: Floats, codes: Bools, left: int, sums: Floats, nulls: Ints, tree: Ints, table: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """Centre of the remaining records: mean of the numbers, null if most are, mode of codes."""
    c = 0
    for j in range(len(sums)):
        if codes[j]:
            out[j] = table[c, mode(tree[c])]
            c += 1
        elif 2 * nulls[j] > left:
            out[j] = 2.0 * caps[j]
        else:
            out[j] = sums[j] / (left - nulls[j])


@kernel
def furthest(near: Floats, ids: Ints, left: int) -> int:
    """Position of the largest of `near`; of equal ones the lowest id."""
    best = 0
    for i in range(1, left):
        if near[i] > near[best] or (near[i] == near[best] and ids[i] < ids[best]):
            best = i
    return best


@kernel
def nearest(near: Floats, ids: Ints, left: int, count: int, heap: Ints) -> None:
    """Positions of the `count` smallest of `near`, ties by lower id, into heap[:count].

    `heap` is a max-heap of positions ordered by (near, id): O(left + changes * log count).
    """
    size = 0
    for i in range(left):
        if size < count:
            at = size
            size += 1
            while at > 0:  # sift up
                up = (at - 1) // 2
                p = heap[up]
                if near[p] > near[i] or (near[p] == near[i] and ids[p] > ids[i]):
                    break
                heap[at] = p
                at = up
            heap[at] = i
            continue
        top = heap[0]
        if near[i] > near[top] or (near[i] == near[top] and ids[i] > ids[top]):
            continue
        at = 0
        while True:  # sift down
            child = 2 * at + 1
            if child >= count:
                break
            if child + 1 < count:
                p, q = heap[child], heap[child + 1]
                if near[q] > near[p] or (near[q] == near[p] and ids[q] > ids[p]):
                    child += 1
            p = heap[child]
            if near[i] > near[p] or (near[i] == near[p] and ids[i] > ids[p]):
                break
            heap[at] = p
            at = child
        heap[at] = i


@kernel
def mdav(
    values: Floats, ids: Ints, caps: Floats, capped: bool, codes: Bools, k: int, labels: Ints,
    label: int,
) -> int:  # fmt: skip
    """Group the records of `values` (d, n) with MDAV; labels[ids] = label, label + 1, ...

    `values` and `ids` are scratch: taken records are swapped behind the remaining ones.
    Returns the next free label. O(n^2 d / k), n >= k.
    """
    d, n = values.shape
    ranks, distinct = code_ranks(values, codes)
    table = code_values(values, codes, ranks, distinct)
    tree = count_tree(ranks, distinct)
    sums, nulls = np.empty(d), np.empty(d, np.int32)
    running(values, caps, capped, codes, n, sums, nulls)
    point, near, heap = np.empty(d), np.empty(n), np.empty(k, np.int32)
    left, fresh, other = n, n, False
    while left >= 2 * k:
        if other:  # the record furthest from the last seed; `near` still holds its distances
            seed = furthest(near, ids, left)
            other = False
        else:
            if 2 * left < fresh:
                running(values, caps, capped, codes, left, sums, nulls)
                fresh = left
            centre(caps, codes, left, sums, nulls, tree, table, point)
            distances(values, caps, capped, point, 0, left, near)
            seed = furthest(near, ids, left)
            other = left >= 3 * k
        for j in range(d):
            point[j] = values[j, seed]
        distances(values, caps, capped, point, 0, left, near)
        near[seed] = -1.0
        nearest(near, ids, left, k, heap)
        heap.sort()
        for h in range(k - 1, -1, -1):
            left -= 1
            i = heap[h]
            labels[ids[i]] = label
            c = 0
            for j in range(d):
                value = values[j, i]
                if codes[j]:
                    uncount(tree[c], ranks[c, i])
                    ranks[c, i] = ranks[c, left]
                    c += 1
                elif is_null(value, caps[j], capped, codes[j]):
                    nulls[j] -= 1
                else:
                    sums[j] -= value
                values[j, i] = values[j, left]
                values[j, left] = value
            near[i] = near[left]
            ids[i], ids[left] = ids[left], ids[i]
        label += 1
    for i in range(left):
        labels[ids[i]] = label
    return label + 1
