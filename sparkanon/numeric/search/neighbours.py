"""Which groups are near which: the short lists that the local search looks at."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric, Reals
from sparkanon.numeric.search.index import Index, make_index
from sparkanon.numeric.search.nearest import least


@tight
def keep_least(near: Reals, bits: Ints, count: int, first: int, best: Reals, names: Ints) -> None:
    """Merge near[:count], named first, first + 1, ..., into the sorted list of the least."""
    last = len(best) - 1
    if least(near, bits, 0, count) >= best[last]:
        return
    for i in range(count):
        if near[i] < best[last]:
            at = last
            while at > 0 and best[at - 1] > near[i]:
                best[at], names[at] = best[at - 1], names[at - 1]
                at -= 1
            best[at], names[at] = near[i], first + i


@tight
def list_part(
    index: Index, bounds: Ints, metric: Metric, b: int, names: Ints, point: Reals, best: Reals,
    lists: Ints,
) -> None:  # fmt: skip
    """The lists of the groups of part `b` from the parts `names`; `point`, `best` are scratch.

    A part at a time for all groups of `b`, so that it is read from memory once.
    """
    values, near, bits, width = index.values, index.near, index.near_bits, index.values.shape[2]
    for g in range(bounds[b], bounds[b + 1]):
        best[g - bounds[b], :] = np.inf
    for o in names:
        for g in range(bounds[b], bounds[b + 1]):
            slot = g - bounds[b]
            for j in range(len(point)):
                point[j] = values[b, j, slot]
            distances(values[o], metric, point, width, near)
            if o == b:
                near[slot] = np.inf
            # leave out the padding of a part, although a capped distance to it is finite
            keep_least(near, bits, bounds[o + 1] - bounds[o], bounds[o], best[slot], lists[g])


@kernel
def neighbours(points: Reals, bounds: Ints, metric: Metric, parts: int, wanted: int) -> Ints:
    """The `wanted` nearest groups of every group, nearest first, -1 where there are fewer.

    `points` (d, groups), float32, are their centres; contiguous parts lie between `bounds`. Looked
    for in the `parts` parts whose middle is nearest. O(groups d (size of a part) parts).
    """
    d, groups = points.shape
    total = len(bounds) - 1
    order, bits = np.arange(groups).astype(np.int32), np.empty(0, np.int32)
    index = make_index(points, order, bounds, points, bits)
    middle = np.empty((d, total), np.float32)
    for b in range(total):
        for j in range(d):  # a record in the middle of the order for a capped distance
            middle[j, b] = points[j, (bounds[b] + bounds[b + 1]) // 2]
            if not metric.capped:
                middle[j, b] = points[j, bounds[b] : bounds[b + 1]].mean()
    lists = np.full((groups, wanted), -1, np.int32)
    near, point = np.empty(total, np.float32), np.empty(d, np.float32)
    names, nearest = np.empty(min(parts, total), np.int32), np.empty(min(parts, total), np.float32)
    best = np.empty((index.values.shape[2], wanted), np.float32)
    for b in range(total):
        nearest[:] = np.inf
        for j in range(d):
            point[j] = middle[j, b]
        distances(middle, metric, point, total, near)
        keep_least(near, near.view(np.int32), total, 0, nearest, names)
        list_part(index, bounds, metric, b, names, point, best, lists)
    return lists


@tight
def once(lists: Ints) -> None:
    """Drop b from the list of a where a stands in the list of b and b < a: one look at a pair."""
    for a in range(lists.shape[0]):
        kept = 0
        for n in range(lists.shape[1]):
            b = lists[a, n]
            mutual = False
            if 0 <= b < a:
                for o in range(lists.shape[1]):
                    mutual |= lists[b, o] == a
            if not mutual:
                lists[a, kept] = b
                kept += 1
        lists[a, kept:] = -1
