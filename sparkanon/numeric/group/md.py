"""MD, maximum distance (Domingo-Ferrer and Mateo-Sanz 2002), exactly, for any distance."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Centre, Ints, centre, make_centre, recount
from sparkanon.numeric.distance import added, distances, from_length, length
from sparkanon.numeric.group.mdav import FRESH, buckets_of, freshen, remove
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import ROUNDING, Index, furthest
from sparkanon.numeric.search.nearest import Best, nearest, offer


@kernel
def make_spans(values: Floats, metric: Metric, middle: Floats) -> Best:
    """For every record a bound of the distance to its furthest one; O(n (d + log n)).

    By the triangle inequality over `middle`. A heap with the largest bound first, ties by lower
    index, for which ids are negative; `at` is the furthest record itself, -1 while unknown.
    """
    n = values.shape[1]
    near = np.empty(n)
    distances(values, metric, middle, n, near)
    most = length(metric, near.max())
    for i in range(n):
        near[i] = from_length(metric, length(metric, near[i]) + most) * ROUNDING
    order = np.argsort(-near, kind="mergesort")
    return Best(near[order], np.full(n, -1, np.int32), -order.astype(np.int32))


@tight
def away(values: Floats, metric: Metric, point: Floats, i: int) -> float:
    """Distance from `point` (d,) to record `i`, added up in the order of `distances`."""
    total = 0.0
    for j in range(len(point)):
        total += added(metric, j, point[j], values[j, i])
    return total


@tight
def widest(
    index: Index, buckets: int, spans: Best, labels: Ints, values: Floats, metric: Metric,
    point: Floats,
) -> tuple[int, int]:  # fmt: skip
    """The furthest pair of records of those without a label, lower index first.

    A furthest distance only falls as records go, so an old one is a bound: the top of the heap is
    computed anew until its partner is still there. A few looks a round instead of n^2.
    """
    while True:
        record = -spans.ids[0]
        if labels[record] >= 0:
            offer(spans, -1.0, -1, -record)
            continue
        partner = spans.at[0]
        if partner >= 0 and labels[partner] < 0:
            return int(record), int(partner)
        for j in range(len(point)):
            point[j] = values[j, record]
        partner = index.ids[furthest(index, buckets, metric, point)]
        offer(spans, away(values, metric, point, partner), partner, -record)


@kernel
def pairs(index: Index, state: Centre, values: Floats, metric: Metric, k: int) -> Ints:
    """The rounds of `md` over an index that holds all records of `values` (d, n)."""
    d, n = values.shape
    labels, label = np.full(n, -1, np.int32), 0
    where, point, buckets = positions(index, n), np.empty(d), len(index.held)
    recount(state, values, metric, labels < 0)
    middle = np.empty(d)
    centre(state, metric, n, middle)
    spans = make_spans(values, metric, middle)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    left, seen, second = n, n + n, False
    while left >= 2 * k:
        if second:  # `point` is still the seed of the first group
            seed = furthest(index, buckets, metric, point)
        else:
            centre(state, metric, left, middle)
            if buckets > 1 and left < FRESH * seen:
                buckets = freshen(index, buckets, metric, middle)
                seen = left
            a, b = widest(index, buckets, spans, labels, values, metric, point)
            outer = away(values, metric, middle, b) > away(values, metric, middle, a)
            seed = where[b if outer else a]
        for j in range(d):
            point[j] = values[j, index.ids[seed]]
        nearest(index, buckets, metric, 1.0, seed, point, best)
        remove(index, buckets, state, values, metric, best, labels, label)
        for at in best.at:  # whoever was swapped stands where one of these stood
            where[index.ids[at]] = at
        second = not second and left >= 3 * k
        left -= k
        label += 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = label
    return labels


def md(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    Two groups a round, around the two records that are furthest apart, first around the
    one further from the centre of what remains. O(n^3 d / k) on paper; here
    as MDAV plus some searches of a furthest record a round.
    """
    index, state = buckets_of(values, metric), make_centre(values, metric)
    return pairs(index, state, values, metric, k)
