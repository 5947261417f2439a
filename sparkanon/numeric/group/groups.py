"""The groups of a block as arrays that a local search can change in place.

With e(i, g) = sum_j d(i, j) / |g| - cost(g) / |g| over the members j of g, and cost(g) the sum of
d over the pairs of g, divided by |g|, a step changes the total cost by

    move i from A to B    e(i, B) b / (b + 1) - e(i, A) a / (a - 1)
    swap i in A, j in B   e(i, B) - e(i, A) + e(j, A) - e(j, B) - d(i, j) (1 / a + 1 / b)

for any symmetric distance. For the squared Euclidean one cost(g) is the sum of squared errors and
e(i, g) the distance from i to the centroid of g, which is how it is computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import apart
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.members import members as members_of
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.leaves import split


class Groups(NamedTuple):
    """Records as rows in the order of their first group, so that neighbours share cache lines."""

    rows: Floats  # (n, d)
    metric: Metric
    members: Ints  # (groups, 2k - 1) rows of a group
    size: Ints  # (groups,) 0 once dissolved
    centre: Floats  # (groups, d): centroid, or a member where there are no centroids
    within: Floats  # (groups,) cost / size
    own: Floats  # (n,) e(i, group of i)


@tight
def e(
    rows: Floats, metric: Metric, members: Ints, size: Ints, centre: Floats, within: Floats,
    i: int, g: int,
) -> float:  # fmt: skip
    """How far row `i` is from group `g`, whether it belongs to it or not; O(d) or O(size d).

    Plain arrays, not `Groups`: to take an array out of a tuple costs as much as the distance.
    """
    total = 0.0
    if metric.capped:
        for m in range(size[g]):
            total += apart(rows, i, rows, members[g, m], metric)
        total = total / size[g] - within[g]
    else:
        total = apart(rows, i, centre, g, metric)
    return total


@tight
def settle(groups: Groups, g: int) -> None:
    """Bring centre, `own` and `within` of group `g` up to date; O(size d), capped O(size^2 d)."""
    rows, metric, members, size = groups.rows, groups.metric, groups.members, groups.size
    centre, within, own = groups.centre, groups.within, groups.own
    count = size[g]
    if metric.capped:
        total = 0.0
        for m in range(count):
            for o in range(m):
                total += apart(rows, members[g, m], rows, members[g, o], metric)
        within[g] = total / (count * count)
    for j in range(rows.shape[1]):
        total = rows[members[g, 0], j]
        if not metric.capped:
            for m in range(1, count):
                total += rows[members[g, m], j]
            total /= count
        centre[g, j] = total
    total = 0.0
    for m in range(count):
        i = members[g, m]
        own[i] = e(rows, metric, members, size, centre, within, i, g)
        total += own[i]
    if not metric.capped:
        within[g] = total / count


@tight
def cost(groups: Groups, g: int) -> float:
    """cost(g): the sum of e(i, g) over its members."""
    total = 0.0
    for m in range(groups.size[g]):
        total += groups.own[groups.members[g, m]]
    return total


@tight
def total_cost(groups: Groups) -> float:
    """The cost of all groups."""
    total = 0.0
    for g in range(len(groups.size)):
        total += cost(groups, g)
    return total


@kernel
def make_groups(
    values: Floats, metric: Metric, k: int, labels: Ints, part: int
) -> tuple[Groups, Ints, Ints, Floats]:
    """Groups from `labels`, numbered anew so that neighbours stand together.

    Also returns the record of every row, the bounds of parts of at most `part` neighbouring
    groups, and their centres (d, groups). O(n d + groups d log groups).
    """
    d, n = values.shape
    starts, records = members_of(labels)
    count = len(starts) - 1
    points = np.empty((d, count))
    for j in range(d):
        for g in range(count):
            total = values[j, records[starts[g]]]
            if not metric.capped:
                for at in range(starts[g] + 1, starts[g + 1]):
                    total += values[j, records[at]]
                total /= starts[g + 1] - starts[g]
            points[j, g] = total
    order, bounds = split(points, metric, part, 1, 0)
    rows, record, row = np.empty((n, d)), np.empty(n, np.int32), 0
    members, size = np.zeros((count, 2 * k - 1), np.int32), np.zeros(count, np.int32)
    for g in range(count):
        for at in range(starts[order[g]], starts[order[g] + 1]):
            i = records[at]
            record[row] = i
            for j in range(d):
                rows[row, j] = values[j, i]
            members[g, size[g]] = row
            size[g] += 1
            row += 1
    groups = Groups(
        rows,
        metric,
        members,
        size,
        np.empty((count, d)),
        np.zeros(count),
        np.empty(n),
    )
    for g in range(count):
        settle(groups, g)
    return groups, record, bounds, points


@kernel
def relabel(groups: Groups, record: Ints) -> Ints:
    """Labels 0, 1, ... of the records, without the groups that were dissolved."""
    labels, label = np.empty(len(record), np.int32), 0
    for g in range(len(groups.size)):
        for m in range(groups.size[g]):
            labels[record[groups.members[g, m]]] = label
        label += groups.size[g] > 0
    return labels
