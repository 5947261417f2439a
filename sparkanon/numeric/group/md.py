"""MD, maximum distance (Domingo-Ferrer and Mateo-Sanz 2002), exactly, for any distance."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Centre, Ints, centre, make_centre, recount
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.mdav import FRESH, buckets_of, freshen, remove
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.search.index import ROUNDING, Index, furthest, length
from sparkanon.numeric.search.nearest import Best, nearest, offer


@kernel
def make_spans(values: Floats, caps: Floats, capped: bool, middle: Floats) -> Best:
    """For every record a bound of the distance to its furthest one; O(n (d + log n)).

    By the triangle inequality over `middle`. A heap with the largest bound first, ties by lower
    index, for which ids are negative; `at` is the furthest record itself, -1 while unknown.
    """
    n = values.shape[1]
    near = np.empty(n)
    distances(values, caps, capped, middle, n, near)
    most = length(near.max(), capped)
    for i in range(n):
        bound = length(near[i], capped) + most
        near[i] = (bound if capped else bound * bound) * ROUNDING
    order = np.argsort(-near, kind="mergesort")
    return Best(near[order], np.full(n, -1, np.int32), -order.astype(np.int32))


@tight
def away(values: Floats, caps: Floats, capped: bool, point: Floats, i: int) -> float:
    """Distance from `point` (d,) to record `i`, added up in the order of `distances`."""
    total = 0.0
    for j in range(len(point)):
        gap = abs(point[j] - values[j, i])
        total += min(gap, caps[j]) if capped else gap * gap
    return total


@tight
def widest(
    index: Index, buckets: int, spans: Best, labels: Ints, values: Floats, caps: Floats,
    capped: bool, point: Floats,
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
        partner = index.ids[furthest(index, buckets, caps, capped, point)]
        offer(spans, away(values, caps, capped, point, partner), partner, -record)


@kernel
def pairs(
    index: Index, state: Centre, values: Floats, caps: Floats, capped: bool, codes: Bools, k: int
) -> Ints:
    """The rounds of `md` over an index that holds all records of `values` (d, n)."""
    d, n = values.shape
    labels, label = np.full(n, -1, np.int32), 0
    where, point, buckets = positions(index, n), np.empty(d), len(index.held)
    recount(state, values, caps, capped, codes, labels < 0)
    middle = np.empty(d)
    centre(state, caps, codes, n, middle)
    spans = make_spans(values, caps, capped, middle)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    left, seen, second = n, n + n, False
    while left >= 2 * k:
        if second:  # `point` is still the seed of the first group
            seed = furthest(index, buckets, caps, capped, point)
        else:
            centre(state, caps, codes, left, middle)
            if buckets > 1 and left < FRESH * seen:
                buckets = freshen(index, buckets, caps, capped, middle)
                seen = left
            a, b = widest(index, buckets, spans, labels, values, caps, capped, point)
            outer = away(values, caps, capped, middle, b) > away(values, caps, capped, middle, a)
            seed = where[b if outer else a]
        for j in range(d):
            point[j] = values[j, index.ids[seed]]
        nearest(index, buckets, caps, capped, 1.0, seed, point, best)
        remove(index, buckets, state, values, caps, capped, codes, best, labels, label)
        for at in best.at:  # whoever was swapped stands where one of these stood
            where[index.ids[at]] = at
        second = not second and left >= 3 * k
        left -= k
        label += 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = label
    return labels


def md(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    Two groups a round, around the two records that are furthest apart, first around the
    one further from the centre of what remains. O(n^3 d / k) on paper; here
    as MDAV plus some searches of a furthest record a round.
    """
    index, state = buckets_of(values, caps, capped), make_centre(values, codes)
    return pairs(index, state, values, caps, capped, codes, k)
