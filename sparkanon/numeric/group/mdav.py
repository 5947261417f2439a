"""MDAV (Domingo-Ferrer and Torra 2005) and CBFS (Laszlo and Mukherjee 2005), exactly.

For any distance of `Points`.
"""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Centre, Ints, centre, forget, make_centre, recount
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index, compact, fit_reach, furthest, make_index, take
from sparkanon.numeric.search.nearest import Best, nearest
from sparkanon.numeric.search.slabs import cut

BUCKET = 64  # records
PLAIN = 1024  # up to here boxes do not pay: one bucket
FRESH = 0.96  # when fewer are left of those seen last, move the hub and drop empty buckets


@tight
def freshen(index: Index, buckets: int, metric: Metric, middle: Floats) -> int:
    """Drop empty buckets and move the hub to the `middle` of what remains; O(n d)."""
    buckets = compact(index, buckets)
    for j in range(len(middle)):
        index.hub[j] = middle[j]
    for b in range(buckets):
        fit_reach(index, b, metric)
    return buckets


@kernel
def remove(
    index: Index, buckets: int, state: Centre, values: Floats, metric: Metric, best: Best,
    labels: Ints, label: int,
) -> None:  # fmt: skip
    """Label the records of `best` and take them out of index and centre."""
    best.at.sort()
    for a in range(len(best.at) - 1, -1, -1):  # from behind: a swap never moves a later one
        i = index.ids[best.at[a]]
        labels[i] = label
        forget(state, values, metric, i)
        take(index, best.at[a], buckets)


@kernel
def rounds(
    index: Index, state: Centre, values: Floats, metric: Metric, k: int, opposite: bool
) -> Ints:
    """The rounds over an index that holds all records of `values` (d, n).

    `opposite`: after the group of the furthest record, the one of the record furthest from that.
    """
    d, n = values.shape
    labels, label = np.full(n, -1, np.int32), 0
    recount(state, values, metric, labels < 0)
    point, buckets = np.empty(d), len(index.held)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    left, seen, recounted, second = n, n + n, n, False
    while left >= 2 * k:
        if not second:  # otherwise `point` is still the seed of the first group
            if 2 * left < recounted:
                recount(state, values, metric, labels < 0)
                recounted = left
            centre(state, metric, left, point)
            if buckets > 1 and left < FRESH * seen:
                buckets = freshen(index, buckets, metric, point)
                seen = left
        seed = furthest(index, buckets, metric, point)
        for j in range(d):
            point[j] = values[j, index.ids[seed]]
        nearest(index, buckets, metric, 1.0, seed, point, best)
        remove(index, buckets, state, values, metric, best, labels, label)
        second = opposite and not second and left >= 3 * k
        left -= k
        label += 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = label
    return labels


def buckets_of(values: Floats, metric: Metric) -> Index:
    """Index over the records of `values` (d, n); one bucket where boxes do not pay."""
    n = values.shape[1]
    order, bounds = cut(values, metric, n if n <= PLAIN else BUCKET)
    spare = np.ascontiguousarray(values[:, order])
    return make_index(spare, order, bounds, np.empty(0), np.empty(0, np.int64))


def mdav(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    Two groups a round: around the record furthest from the centre of what remains, and around
    the one furthest from that. O(n^2 d / k) at worst, a few per cent of it with boxes.
    """
    index, state = buckets_of(values, metric), make_centre(values, metric)
    return rounds(index, state, values, metric, k, True)


def cbfs(values: Floats, metric: Metric, k: int) -> Ints:
    """As `mdav`, but one group a round: around the record furthest from the centre."""
    index, state = buckets_of(values, metric), make_centre(values, metric)
    return rounds(index, state, values, metric, k, False)
