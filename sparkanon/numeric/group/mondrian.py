"""Strict multidimensional Mondrian: halves at the median of the widest column."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.guard import Guard, holds
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.leaves import select


@kernel
def extents(values: Floats, members: Ints) -> Floats:
    """The range of every coordinate of `values` (d, n) among these records."""
    wide = np.empty(len(values))
    for j in range(len(values)):
        low = high = values[j, members[0]]
        for i in members:
            low, high = min(low, values[j, i]), max(high, values[j, i])
        wide[j] = high - low
    return wide


@kernel
def halved(row: Floats, members: Ints, k: int) -> int:
    """Put records up to the median of `row` first, and return how many; 0: no cut leaves k.

    Equal values stay together: the cut falls above the median, or below it if k are not left.
    """
    count = len(members)
    keys, moved = row[members], members.copy()
    middle = (count - 1) // 2
    select(keys, moved, middle)
    # `select` leaves the smallest in front; the median is the largest of them
    median = keys[: middle + 1].max()
    up_to, under = 0, 0
    for i in members:
        up_to += row[i] <= median
        under += row[i] < median
    left = up_to if count - up_to >= k else under
    if left < k or count - left < k:
        return 0
    first, last = 0, left
    for i in members:
        if row[i] < median or (row[i] == median and left == up_to):
            moved[first] = i
            first += 1
        else:
            moved[last] = i
            last += 1
    members[:] = moved
    return left


@kernel
def mondrian(values: Floats, k: int, guard: Guard) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k.

    A part is cut on the column whose range, as a share of its range in the block, is widest and
    whose cut leaves k records and the guard's rules on both sides. O(n d log n).
    """
    d, n = values.shape
    order = np.arange(n).astype(np.int32)
    whole = extents(values, order)
    labels, label = np.empty(n, np.int32), 0
    stack = [(0, n)]
    while len(stack) > 0:
        low, high = stack.pop()
        members, left = order[low:high], 0
        if high - low >= 2 * k:
            wide = extents(values, members)
            for j in range(d):
                wide[j] = wide[j] / whole[j] if whole[j] > 0 else 0.0
            for j in np.argsort(-wide, kind="mergesort"):
                if wide[j] == 0.0:
                    break
                tried = members.copy()
                left = halved(values[j], tried, k)
                if left > 0 and holds(guard, tried[:left]) and holds(guard, tried[left:]):
                    members[:] = tried
                    break
                left = 0
        if left > 0:
            stack.append((low + left, high))
            stack.append((low, low + left))
            continue
        for i in members:
            labels[i] = label
        label += 1
    return labels
