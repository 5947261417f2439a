"""Groups of k from the outside in: the start of the refined grouping.

Like MDAV, but the furthest record is the next one in a list sorted once (centroid-based fixed
size, CBFS), and its neighbours are found in float32 with some slack. Of four times as many as it
needs the group takes those that cost least, as importance partitioning does. A few per cent of
MDAV's time, and less loss.
"""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints, centre, make_centre, recount
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.grow import grow
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.metric import Metric, Reals
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index, compact, make_index, take
from sparkanon.numeric.search.leaves import SAMPLE
from sparkanon.numeric.search.nearest import Best, nearest
from sparkanon.numeric.search.slabs import cut

BUCKET = 128  # records
SLACK = 3.0  # pass over buckets whose bound, squared, is more than 1 / SLACK of the best
REACH = 128  # a group of k is grown from its seed's 4k nearest, at most this many more than k
FRESH = 0.9  # when fewer are left of those seen last, drop empty buckets


@kernel
def inward(values: Floats, metric: Metric) -> Ints:
    """Records of `values` (d, n) by falling distance from their centre; O(n (d + log n))."""
    d, n = values.shape
    state, middle, near = make_centre(values, metric), np.empty(d), np.empty(n)
    recount(state, values, metric, np.ones(n, np.bool_))
    centre(state, metric, n, middle)
    distances(values, metric, middle, n, near)
    return np.argsort(-near).astype(np.int32)


@kernel
def fit_for_float32(values: Floats) -> float:
    """Shift every coordinate of `values` (d, n) to a middle record, scale all into -1..1.

    A median, because one wild record must not take the digits of all others. Returns the scale.
    """
    d, n = values.shape
    stride = max(n // SAMPLE, 1)
    largest = 0.0
    for j in range(d):
        values[j] -= np.median(values[j, ::stride])
        for i in range(n):
            largest = max(largest, abs(values[j, i]))
    scale = 1.0 / largest if largest > 0.0 else 1.0
    for j in range(d):
        for i in range(n):
            values[j, i] *= scale
    return scale


@kernel
def positions(index: Index, n: int) -> Ints:
    """The position of every record: the inverse of index.ids."""
    where, width = np.empty(n, np.int32), index.values.shape[2]
    for b in range(len(index.held)):
        for at in range(b * width, b * width + index.held[b]):
            where[index.ids[at]] = at
    return where


@kernel
def layers(index: Index, seeds: Ints, metric: Metric, k: int) -> Ints:
    """Group the records of the index around the next of `seeds` that remains, again and again."""
    n, d, width = len(seeds), index.values.shape[1], index.values.shape[2]
    where, point = positions(index, n), np.empty(d, np.float32)
    labels, label = np.full(n, -1, np.int32), 0
    most, slack = min(k + min(3 * k, REACH), n), np.sqrt(SLACK) if metric.capped else SLACK
    heap = Best(np.empty(most, np.float32), np.empty(most, np.int32), np.empty(most, np.int32))
    lanes, away = np.empty((d, most), np.float32), np.empty(most, np.float32)
    total = np.empty(most, np.float32)
    left, seen, buckets = n, n, len(index.held)
    for record in seeds:
        if left < 2 * k:
            break
        if labels[record] >= 0:
            continue
        if left < FRESH * seen:
            buckets, seen = compact(index, buckets), left
        seed, near = where[record], min(most, left)
        best = Best(heap.near[:near], heap.at[:near], heap.ids[:near])
        for j in range(d):
            point[j] = index.values[seed // width, j, seed % width]
        nearest(index, buckets, metric, slack, seed, point, best)
        for a in range(near):
            if best.at[a] == seed:
                best.at[0], best.at[a] = best.at[a], best.at[0]
        for a in range(near):
            bucket, slot = best.at[a] // width, best.at[a] % width
            for j in range(d):
                lanes[j, a] = index.values[bucket, j, slot]
        grow(lanes[:, :near], metric, best.at, k, away, total)
        group = np.sort(best.at[:k])
        for a in range(k - 1, -1, -1):
            at = group[a]
            labels[index.ids[at]] = label
            take(index, at, buckets)
            where[index.ids[at]] = at
        left -= k
        label += 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = label
    return labels


def in_float32(values: Floats, metric: Metric) -> tuple[Reals, Metric]:
    """`values` (d, n), which are changed, and their metric for a search in float32."""
    scale = fit_for_float32(values)
    caps = metric.caps * scale if metric.capped else metric.caps
    return values.astype(np.float32), metric._replace(caps=caps.astype(np.float32))


def peel(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; about O(n d buckets / k)."""
    order, bounds = cut(values, metric, BUCKET)
    spare = np.ascontiguousarray(values[:, order])
    points32, metric32 = in_float32(spare, metric)
    index = make_index(points32, order, bounds, np.empty(0, np.float32), np.empty(0, np.int32))
    return layers(index, inward(values, metric), metric32, k)
