"""Groups of k or more around given records in turn: what V-MDAV and TFRP have in common."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.mdav import FRESH
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index, box_nearest, compact, take, whole
from sparkanon.numeric.search.nearest import STRETCH, Best, least, looked_at, nearest


def outermost(values: Floats, metric: Metric, point: Floats) -> Ints:
    """Records of `values` (d, n) by falling distance from `point`, ties by lower index."""
    near = np.empty(values.shape[1])
    distances(values, metric, point, len(near), near)
    return np.argsort(-near, kind="stable").astype(np.int32)


@tight
def closest(
    index: Index, buckets: int, metric: Metric, point: Floats, home: int, but: int, limit: float,
    least_id: int,
) -> tuple[float, int]:  # fmt: skip
    """The record nearest to `point` as (distance, position), ties by lower id.

    Only one that comes before (limit, least_id) counts, and not the one at position `but`;
    (limit, -1) if there is none. The bucket `home` is looked at first.
    """
    values, ids, block, held = index.values, index.ids, index.block, index.held
    bound, bound_bits, near, near_bits = index.bound, index.bound_bits, index.near, index.near_bits
    width, found = values.shape[2], -1
    box_nearest(index, buckets, metric, point)
    for turn in range(-2, (buckets + STRETCH - 1) // STRETCH):
        low, high = looked_at(turn, home, buckets)
        if least(bound, bound_bits, low, high) > limit:
            continue
        for b in range(low, high):
            if bound[b] > limit or held[b] == 0 or (b == home and turn > -2):
                continue
            count = whole(held[b])
            distances(values[block[b]], metric, point, count, near)
            if least(near, near_bits, 0, count) > limit:
                continue
            first = block[b] * width
            for i in range(held[b]):
                if near[i] > limit or first + i == but:
                    continue
                if near[i] < limit or ids[first + i] < least_id:
                    limit, found, least_id = near[i], first + i, ids[first + i]
    return limit, found


@tight
def extension(
    index: Index, buckets: int, values: Floats, where: Ints, metric: Metric, gain: float,
    members: Ints, size: int, point: Floats,
) -> int:  # fmt: skip
    """Position of the record by which V-MDAV extends the group `members`[:size], or -1.

    The remaining record nearest to a member, if that distance d_in is below `gain` times its
    distance d_out to the nearest other remaining record.
    """
    width = index.values.shape[2]
    inside, found = np.inf, -1
    for m in range(size):
        for j in range(len(point)):
            point[j] = values[j, members[m]]
        home = index.bucket[where[members[m]] // width]
        least_id = index.ids[found] if found >= 0 else len(values[0])
        near, at = closest(index, buckets, metric, point, home, -1, inside, least_id)
        if at >= 0:
            inside, found = near, at
    if found < 0:
        return -1
    for j in range(len(point)):
        point[j] = values[j, index.ids[found]]
    home = index.bucket[found // width]
    other = closest(index, buckets, metric, point, home, found, inside / gain, len(values[0]))[1]
    return found if other < 0 else -1


@kernel
def around(index: Index, seeds: Ints, values: Floats, metric: Metric, k: int, gain: float) -> Ints:
    """Group the k nearest remaining records around the first remaining one of each of `seeds`.

    `seeds` (orders, n) are used in turn. With a positive `gain`, on the scale of the distances,
    groups are extended up to 2k-1 while more than k records remain. Labels 0, 1, ... of the
    records of `values` (d, n), which `index` holds; -1 of the fewer than k that are left over.
    """
    d, n = values.shape
    where, point = positions(index, n), np.empty(d)
    labels, label, turn = np.full(n, -1, np.int32), 0, 0
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    members, at = np.empty(2 * k - 1, np.int32), np.zeros(len(seeds), np.int64)
    left, seen, buckets = n, n, len(index.held)
    while left >= k:
        if buckets > 1 and left < FRESH * seen:
            buckets, seen = compact(index, buckets), left
        while labels[seeds[turn, at[turn]]] >= 0:
            at[turn] += 1
        record = seeds[turn, at[turn]]
        turn = (turn + 1) % len(seeds)
        for j in range(d):
            point[j] = values[j, record]
        nearest(index, buckets, metric, 1.0, where[record], point, best)
        best.at.sort()
        size = 0
        for a in range(k - 1, -1, -1):  # from behind: a swap never moves a later one
            size = join(index, buckets, best.at[a], where, members, size)
        left -= k
        while gain > 0.0 and size < 2 * k - 1 and left > k:
            found = extension(index, buckets, values, where, metric, gain, members, size, point)
            if found < 0:
                break
            size = join(index, buckets, found, where, members, size)
            left -= 1
        for m in range(size):
            labels[members[m]] = label
        label += 1
    return labels


@tight
def join(index: Index, buckets: int, position: int, where: Ints, members: Ints, size: int) -> int:
    """Take the record at `position` out of the index into `members`; returns their new size."""
    members[size] = index.ids[position]
    end = take(index, position, buckets)
    where[index.ids[position]] = position
    where[index.ids[end]] = end
    return size + 1
