"""A patch: some neighbouring groups with all distances between their records.

With S(i, g) the sum of d(i, j) over the members j of g, kept for every record and every group,
the change of cost by any move or swap takes a handful of operations, whatever the distance. A
record that changes its group costs O(records of the patch).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats

NEAR = 12  # records of the patch that a record may follow into their group


class Patch(NamedTuple):
    """Room for `most` records; records and groups are numbered from 0 within the patch."""

    lanes: Floats  # (d, most) coordinates
    apart: Floats  # (most, most) distances
    near: Ints  # (most, NEAR) nearest records, nearest first
    scale: Floats  # (most,) mean distance of those
    rows: Ints  # (most,) what the records are called outside
    group: Ints  # (most,)
    slot: Ints  # (most,) place among the members of its group
    members: Ints  # (groups, 2k - 1)
    size: Ints  # (groups,) 0: no group
    sums: Floats  # (groups, most) S(i, g)
    pairs: Floats  # (groups,) sum over the pairs; the cost of a group is this / size


@kernel
def make_patch(d: int, most: int, k: int) -> Patch:
    """An empty patch; one group more than can be filled, so that a new one always finds room."""
    groups = most // k + 1
    return Patch(
        np.zeros((d, most)),
        np.empty((most, most)),
        np.empty((most, NEAR), np.int32),
        np.empty(most),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty((groups, 2 * k - 1), np.int32),
        np.zeros(groups, np.int32),
        np.empty((groups, most)),
        np.empty(groups),
    )


@tight
def list_near(patch: Patch, count: int) -> int:
    """The nearest records of each of `count` records; returns how many. O(count^2)."""
    apart, near, scale = patch.apart, patch.near, patch.scale
    wanted = min(NEAR, count - 1)
    for i in range(count):
        kept = 0
        for o in range(count):
            if o == i or (kept == wanted and apart[i, o] >= apart[i, near[i, wanted - 1]]):
                continue
            at = min(kept, wanted - 1)
            while at > 0 and apart[i, near[i, at - 1]] > apart[i, o]:
                near[i, at] = near[i, at - 1]
                at -= 1
            near[i, at] = o
            kept = min(kept + 1, wanted)
        total = 0.0
        for at in range(wanted):
            total += apart[i, near[i, at]]
        scale[i] = total / wanted if total < np.inf else 0.0  # so that no limit is infinite
    return wanted


@tight
def load(
    patch: Patch, rows: Floats, metric: Metric, members: Ints, size: Ints,
    names: Ints, named: int,
) -> int:  # fmt: skip
    """Fill the patch with the groups names[:named]; returns the number of records r. O(r^2 d)."""
    count = 0
    for g in range(len(patch.size)):
        patch.size[g] = size[names[g]] if g < named else 0
        for m in range(patch.size[g]):
            i = members[names[g], m]
            patch.rows[count], patch.group[count], patch.slot[count] = i, g, m
            patch.members[g, m] = count
            for j in range(rows.shape[1]):
                patch.lanes[j, count] = rows[i, j]
            count += 1
    for i in range(count):
        distances(patch.lanes, metric, rows[patch.rows[i]], count, patch.apart[i])
    return count


@tight
def tally(patch: Patch, count: int, groups: int) -> float:
    """Sums and pairs from scratch, and the cost of the patch; O(count^2 + groups count)."""
    apart, members, size, sums = patch.apart, patch.members, patch.size, patch.sums
    cost = 0.0
    for g in range(groups):
        mine = sums[g]
        for i in range(count):
            mine[i] = 0.0
        for m in range(size[g]):
            row = apart[members[g, m]]
            for i in range(count):
                mine[i] += row[i]
        total = 0.0
        for m in range(size[g]):
            for o in range(m):
                total += apart[members[g, m], members[g, o]]
        patch.pairs[g] = total
        if size[g] > 0:
            cost += total / size[g]
    return cost


@tight
def rise(patch: Patch, i: int, g: int) -> float:
    """What group `g` costs more with record `i`."""
    size, pairs = patch.size[g], patch.pairs[g]
    before = pairs / size if size > 0 else 0.0
    return float((pairs + patch.sums[g, i]) / (size + 1.0) - before)


@tight
def fall(patch: Patch, i: int) -> float:
    """What the group of record `i`, of two or more, costs less without it."""
    g = patch.group[i]
    size, pairs = patch.size[g], patch.pairs[g]
    return float(pairs / size - (pairs - patch.sums[g, i]) / (size - 1.0))


@tight
def move(patch: Patch, count: int, i: int, b: int) -> None:
    """Move record `i` to group `b`; O(count)."""
    group, slot, members, size = patch.group, patch.slot, patch.members, patch.size
    a = group[i]
    row, mine, other = patch.apart[i], patch.sums[a], patch.sums[b]
    patch.pairs[a] -= mine[i]
    patch.pairs[b] += other[i]
    for o in range(count):
        mine[o] -= row[o]
        other[o] += row[o]
    size[a] -= 1
    last = members[a, size[a]]
    members[a, slot[i]], slot[last] = last, slot[i]
    members[b, size[b]], slot[i], group[i] = i, size[b], b
    size[b] += 1


@tight
def swap(patch: Patch, count: int, i: int, j: int) -> None:
    """Swap the groups of the records `i` and `j`; O(count)."""
    group, slot, members = patch.group, patch.slot, patch.members
    a, b = group[i], group[j]
    row, mine, back, other = patch.apart[i], patch.sums[a], patch.apart[j], patch.sums[b]
    patch.pairs[a] += mine[j] - mine[i] - row[j]
    patch.pairs[b] += other[i] - other[j] - row[j]
    for o in range(count):
        gap = back[o] - row[o]
        mine[o] += gap
        other[o] -= gap
    members[a, slot[i]], members[b, slot[j]] = j, i
    slot[i], slot[j] = slot[j], slot[i]
    group[i], group[j] = b, a
