"""Which groups are near which: the short lists that the local search looks at."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.records import Floats


@tight
def keep_least(near: Floats, count: int, first: int, best: Floats, names: Ints) -> None:
    """Merge near[:count], named first, first + 1, ..., into the sorted list of the least."""
    last = len(best) - 1
    for i in range(count):
        if near[i] < best[last]:
            at = last
            while at > 0 and best[at - 1] > near[i]:
                best[at], names[at] = best[at - 1], names[at - 1]
                at -= 1
            best[at], names[at] = near[i], first + i


@kernel
def neighbours(
    points: Floats, bounds: Ints, caps: Floats, capped: bool, parts: int, wanted: int
) -> Ints:
    """The `wanted` nearest groups of every group, nearest first, -1 where there are fewer.

    `points` (d, groups) are their centres, contiguous parts of them lie between `bounds`. Looked
    for in the `parts` parts whose middle is nearest. O(groups d (size of a part) parts).
    """
    d, groups = points.shape
    total = len(bounds) - 1
    middle = np.empty((d, total))
    for b in range(total):
        for j in range(d):  # a record in the middle of the order for a capped distance
            middle[j, b] = points[j, (bounds[b] + bounds[b + 1]) // 2]
            if not capped:
                middle[j, b] = points[j, bounds[b] : bounds[b + 1]].mean()
    lists = np.full((groups, wanted), -1, np.int32)
    near, point = np.empty(max(total, groups)), np.empty(d)
    best, nearest = np.empty(wanted), np.empty(min(parts, total))
    names = np.empty(min(parts, total), np.int32)
    for b in range(total):
        nearest[:] = np.inf
        for j in range(d):
            point[j] = middle[j, b]
        distances(middle, caps, capped, point, total, near)
        keep_least(near, total, 0, nearest, names)
        for g in range(bounds[b], bounds[b + 1]):
            best[:] = np.inf
            for j in range(d):
                point[j] = points[j, g]
            for o in names:
                first, count = bounds[o], bounds[o + 1] - bounds[o]
                distances(points[:, first : first + count], caps, capped, point, count, near)
                if first <= g < first + count:
                    near[g - first] = np.inf
                keep_least(near, count, first, best, lists[g])
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
