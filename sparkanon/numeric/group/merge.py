"""Join groups that break a rule with their nearest ones, until none is left."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.guard import broken
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.members import members
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Bools, Floats, Labels


@kernel
def centres(values: Floats, metric: Metric, records: Ints, bounds: Ints) -> Floats:
    """The centroid of every group, or one of its records where there are no centroids."""
    found = np.empty((len(values), len(bounds) - 1))
    for j in range(len(values)):
        for g in range(len(bounds) - 1):
            low, high = bounds[g], bounds[g + 1]
            total = values[j, records[(low + high) // 2]]
            if not metric.capped:
                total = 0.0
                for at in range(low, high):
                    total += values[j, records[at]] / (high - low)
            found[j, g] = total
    return found


@kernel
def join_nearest(points: Floats, metric: Metric, bad: Bools) -> Ints:
    """Labels of the groups after each bad one has joined its nearest; O(bad groups d).

    `points` (d, groups) are their centres.
    """
    d, groups = points.shape
    leader, near, point = np.arange(groups), np.empty(groups), np.empty(d)
    for g in range(groups):
        if not bad[g]:
            continue
        for j in range(d):
            point[j] = points[j, g]
        distances(points, metric, point, groups, near)
        near[g] = np.inf
        one, other = g, np.argmin(near)
        while leader[one] != one:
            one = leader[one]
        while leader[other] != other:
            other = leader[other]
        if one < other:  # a leader's number is lower than its followers'
            leader[other] = one
        else:
            leader[one] = other
    labels, label = np.empty(groups, np.int32), 0
    for g in range(groups):
        if leader[g] == g:
            labels[g] = label
            label += 1
        else:
            labels[g] = labels[leader[g]]
    return labels


def merged(points: Points, labels: Labels) -> Labels | None:
    """Groups that keep the guard's rules; None if even all records together do not."""
    if not len(points.guard.kind):
        return labels
    values, metric = arrays(points)
    while True:
        bounds, records = members(labels)
        bad = broken(points.guard, records, bounds)
        if not bad.any():
            return labels
        if len(bad) == 1:
            return None
        middles = centres(values, metric, records, bounds)
        labels = join_nearest(middles, metric, bad)[labels]
