"""Local search between neighbouring groups: move and swap records while the cost falls.

With e(i, g) = sum_j d(i, j) / |g| - cost(g) / |g| for the members j of g, which for the squared
Euclidean distance is the distance of i to the centroid of g, and cost(g) = sum of d over the
pairs of g / |g|, both steps have closed forms for any symmetric distance:

    move i from A to B    e(i, B) b / (b + 1) - e(i, A) a / (a - 1)
    swap i in A, j in B   e(i, B) - e(i, A) + e(j, A) - e(j, B) - d(i, j) (1 / a + 1 / b)
"""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distance
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Floats

TRIED = 4  # nearest groups that a record tries
SURE = 1e-9  # a step must lower the cost by this part of the terms it is made of


@kernel
def group_cost(values: Floats, caps: Floats, capped: bool, members: Ints) -> float:
    """Sum of the distances of all pairs, divided by their number of records; O(size^2 d)."""
    total = 0.0
    for a in range(len(members)):
        for b in range(a):
            total += distance(values, caps, capped, members[a], members[b])
    return total / len(members)


@kernel
def settle(
    values: Floats, caps: Floats, capped: bool, members: Ints, sizes: Ints, g: int,
    centres: Floats, within: Floats,
) -> None:  # fmt: skip
    """Bring centre (squared Euclidean) or cost (capped) of group `g` up to date."""
    size = sizes[g]
    if capped:
        within[g] = group_cost(values, caps, capped, members[g, :size]) / size
        return
    for j in range(values.shape[0]):
        total = 0.0
        for a in range(size):
            total += values[j, members[g, a]]
        centres[j, g] = total / size


@kernel
def reach(
    values: Floats, caps: Floats, capped: bool, members: Ints, sizes: Ints, i: int, g: int,
    centres: Floats, within: Floats,
) -> float:  # fmt: skip
    """e(i, g): how far record `i` is from the centre of group `g`, whether it belongs or not."""
    total = 0.0
    if capped:
        for a in range(sizes[g]):
            total += distance(values, caps, capped, i, members[g, a])
        return total / sizes[g] - within[g]
    for j in range(values.shape[0]):
        gap = values[j, i] - centres[j, g]
        total += gap * gap
    return total


@kernel
def search(
    values: Floats, caps: Floats, capped: bool, k: int, members: Ints, sizes: Ints, own: Ints
) -> int:
    """One round over the records of a bunch; changes `members`, `sizes`, `own`; counts steps."""
    d, n = values.shape
    groups = len(sizes)
    centres, within, near = np.empty((d, groups)), np.zeros(groups), np.empty(groups)
    for g in range(groups):
        settle(values, caps, capped, members, sizes, g, centres, within)
    steps = 0
    for i in range(n):
        a = own[i]
        for g in range(groups):
            near[g] = reach(values, caps, capped, members, sizes, i, g, centres, within)
        mine = near[a]
        near[a] = np.inf
        best, to, other = 0.0, -1, -1
        for _ in range(min(TRIED, groups - 1)):
            b = int(np.argmin(near))
            theirs = near[b]
            near[b] = np.inf
            size_a, size_b = sizes[a], sizes[b]
            if size_a > k and size_b < 2 * k - 1:
                gain = mine * size_a / (size_a - 1) - theirs * size_b / (size_b + 1)
                if gain > best and gain > SURE * (mine + theirs):
                    best, to, other = gain, b, -1
            share = 1.0 / size_a + 1.0 / size_b
            for m in range(size_b):
                j = members[b, m]
                here = reach(values, caps, capped, members, sizes, j, a, centres, within)
                there = reach(values, caps, capped, members, sizes, j, b, centres, within)
                apart = distance(values, caps, capped, i, j)
                gain = mine - theirs + there - here + apart * share
                if gain > best and gain > SURE * (mine + theirs + here + there):
                    best, to, other = gain, b, m
        if to < 0:
            continue
        steps += 1
        at = 0
        while members[a, at] != i:
            at += 1
        if other < 0:
            sizes[a] -= 1
            members[a, at] = members[a, sizes[a]]
            members[to, sizes[to]] = i
            sizes[to] += 1
        else:
            j = members[to, other]
            members[a, at], members[to, other] = j, i
            own[j] = a
        own[i] = to
        settle(values, caps, capped, members, sizes, a, centres, within)
        settle(values, caps, capped, members, sizes, to, centres, within)
    return steps


@kernel
def markers(values: Floats, capped: bool, labels: Ints, groups: int) -> tuple[Floats, Ints, Ints]:
    """A point (d, groups) that stands for every group, and its members: (starts, records)."""
    d, n = values.shape
    starts, records = np.zeros(groups + 1, np.int32), np.empty(n, np.int32)
    for i in range(n):
        starts[labels[i] + 1] += 1
    for g in range(groups):
        starts[g + 1] += starts[g]
    fill = starts.copy()
    for i in range(n):
        records[fill[labels[i]]] = i
        fill[labels[i]] += 1
    points = np.empty((d, groups))
    for j in range(d):
        for g in range(groups):
            if capped:
                points[j, g] = values[j, records[starts[g]]]
                continue
            total = 0.0
            for at in range(starts[g], starts[g + 1]):
                total += values[j, records[at]]
            points[j, g] = total / (starts[g + 1] - starts[g])
    return points, starts, records
