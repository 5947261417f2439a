"""Groups that take in and give away single records: leftovers, and second phases of methods.

Cost and e(i, g) are those of `groups.py`; here a group may hold any number of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import added, distances
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.members import break_up
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats

SURE = 1e-9  # a step must lower the cost by this part of it


class Loose(NamedTuple):
    """Groups as lists of records: first[g], after[first[g]], ... up to -1."""

    values: Floats  # (d, n)
    metric: Metric
    labels: Ints  # (n,) -1: in no group
    first: Ints  # (groups,)
    after: Ints  # (n,)
    size: Ints  # (groups,)
    cost: Floats  # (groups,)
    centre: Floats  # (d, groups) centroids; not used where the distance is capped
    away: Floats  # (groups,) scratch: e(i, g) of one record
    near: Floats  # (n,) scratch: distances of one record


@tight
def away_from(loose: Loose, i: int, g: int) -> float:
    """e(i, g) of a record that is not in `g`, 0 where `g` is empty; O(d), capped O(size d)."""
    values, metric, d, total = loose.values, loose.metric, len(loose.values), 0.0
    if loose.size[g] == 0:
        return 0.0
    if not metric.capped:
        for j in range(d):
            total += added(metric, j, values[j, i], loose.centre[j, g])
        return float(total)
    o = loose.first[g]
    while o >= 0:
        for j in range(d):
            total += added(metric, j, values[j, i], values[j, o])
        o = loose.after[o]
    return float((total - loose.cost[g]) / loose.size[g])


@tight
def away_from_all(loose: Loose, i: int, point: Floats) -> None:
    """e(i, g) for all groups into `away`, as `away_from`; O(groups d), capped O(n d)."""
    labels, size, away = loose.labels, loose.size, loose.away
    for j in range(len(point)):
        point[j] = loose.values[j, i]
    if not loose.metric.capped:
        distances(loose.centre, loose.metric, point, len(size), away)
        return
    distances(loose.values, loose.metric, point, len(labels), loose.near)
    for g in range(len(size)):
        away[g] = -loose.cost[g]
    for o in range(len(labels)):
        if labels[o] >= 0:
            away[labels[o]] += loose.near[o]
    for g in range(len(size)):
        away[g] /= max(size[g], 1)


@tight
def nearest_group(loose: Loose, coming: Ints, most: int) -> int:
    """The group of least `away` among those with records but fewer than `most`, or -1.

    `coming` (groups,) are how many more records are on their way to each.
    """
    size, away, best = loose.size, loose.away, -1
    for g in range(len(size)):
        if 0 < size[g] < most - coming[g] and (best < 0 or away[g] < away[best]):
            best = g
    return best


@tight
def put(loose: Loose, i: int, g: int) -> float:
    """Put record `i`, which is in no group, into `g`; returns what that costs."""
    grown = loose.size[g] + 1
    more = away_from(loose, i, g) * float(grown - 1) / float(grown)
    loose.size[g], loose.labels[i] = grown, g
    loose.after[i], loose.first[g] = loose.first[g], i
    loose.cost[g] += more
    for j in range(len(loose.values)):
        loose.centre[j, g] += (loose.values[j, i] - loose.centre[j, g]) / grown
    return more


@kernel
def make_loose(values: Floats, metric: Metric, labels: Ints) -> Loose:
    """The groups 0, 1, ... of `labels`; -1: in no group. O(n d), capped O(n size d)."""
    d, n = values.shape
    count = labels.max() + 1
    nobody, nowhere = np.full(n, -1, np.int32), np.full(count, -1, np.int32)
    loose = Loose(
        values, metric, nobody, nowhere, nobody.copy(), np.zeros(count, np.int32),
        np.zeros(count), np.zeros((d, count)), np.empty(count), np.empty(n),
    )  # fmt: skip
    for i in range(n):
        if labels[i] >= 0:
            put(loose, i, labels[i])
    return loose


@kernel
def total_cost(values: Floats, metric: Metric, labels: Ints) -> float:
    """The cost of the groups of `labels`; O(n d), capped O(n size d)."""
    return float(make_loose(values, metric, labels).cost.sum())


@kernel
def spread(values: Floats, metric: Metric, labels: Ints, k: int) -> Ints:
    """Put the records labelled -1 into the nearest group of fewer than 2k-1 records.

    One after the other; O(n d), capped O(n k d), and O(n d) for each of them.
    """
    if labels.min() >= 0:
        return labels
    loose, point = make_loose(values, metric, labels), np.empty(len(values))
    none = np.zeros(len(loose.size), np.int32)
    for i in range(len(labels)):
        if labels[i] < 0:
            away_from_all(loose, i, point)
            put(loose, i, nearest_group(loose, none, 2 * k - 1))
    return loose.labels


@kernel
def targets(loose: Loose, members: Ints, most: int, coming: Ints, to: Ints) -> bool:
    """Where each of `members`, who are in no group, would go; False if there is no room for all.

    To the nearest groups as they stand before anybody moves (SURVEY 3.5, steps 3 and 4). `coming`
    (groups,) is all 0 before and after. O(count groups d), capped O(count n d).
    """
    point, found = np.empty(len(loose.values)), 0
    while found < len(members):
        away_from_all(loose, members[found], point)
        to[found] = nearest_group(loose, coming, most)
        if to[found] < 0:
            break
        coming[to[found]] += 1
        found += 1
    for m in range(found):
        coming[to[m]] = 0
    return found == len(members)


@kernel
def dissolved(loose: Loose, g: int, most: int, coming: Ints) -> bool:
    """Send the records of `g` to the nearest other groups, if that lowers the cost.

    The outermost choose first; groups of `most` records take no more. All come back when they
    have spent the cost of `g`. O(size groups d), capped O(size n d).
    """
    count = loose.size[g]
    members, off, to = np.empty(count, np.int32), np.empty(count), np.empty(count, np.int32)
    i = loose.first[g]
    for m in range(count):
        members[m], off[m] = i, away_from(loose, i, g)
        i = loose.after[i]
    members = members[np.argsort(-off, kind="mergesort")]
    loose.labels[members] = -1
    loose.size[g], loose.first[g] = 0, -1
    centres, costs = np.empty((count, len(loose.values))), np.empty(count)
    spent, budget, sent = 0.0, loose.cost[g] * (1.0 - SURE), 0
    if targets(loose, members, most, coming, to):
        while sent < count and spent < budget:
            costs[sent], centres[sent] = loose.cost[to[sent]], loose.centre[:, to[sent]]
            spent += put(loose, members[sent], to[sent])
            sent += 1
    if sent == count and spent < budget:
        loose.cost[g] = 0.0
        return True
    for m in range(sent - 1, -1, -1):
        loose.first[to[m]] = loose.after[members[m]]
        loose.size[to[m]] -= 1
        loose.cost[to[m]], loose.centre[:, to[m]] = costs[m], centres[m]
    for i in members:
        loose.labels[i], loose.after[i], loose.first[g] = g, loose.first[g], i
    loose.size[g] = count
    return False


@kernel
def dissolve(values: Floats, metric: Metric, labels: Ints, most: int) -> Ints:
    """Dissolve every group for which that pays, the costliest first; returns labels with gaps.

    O(n groups d), capped O(n^2 d).
    """
    loose = make_loose(values, metric, labels)
    coming = np.zeros(len(loose.size), np.int32)
    for g in np.argsort(-loose.cost, kind="mergesort"):
        dissolved(loose, g, most, coming)
    return loose.labels


def second_phase(values: Floats, metric: Metric, labels: Ints, k: int, most: int) -> Ints:
    """`dissolve` groups, then cut those of 2k or more records with MDAV; labels 0, 1, ..."""
    labels = dissolve(values, metric, labels, most)
    labels = break_up(mdav, values, metric, k, labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
