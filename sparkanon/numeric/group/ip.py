"""Importance partitioning: groups grown around the records that matter most, the outermost."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints, centre_of
from sparkanon.numeric.group.around import join, outermost
from sparkanon.numeric.group.grow import grow
from sparkanon.numeric.group.loose import spread
from sparkanon.numeric.group.mdav import FRESH, buckets_of
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index, compact
from sparkanon.numeric.search.nearest import Best, nearest

REACH = 8  # a group of k is grown from the REACH * k records nearest to its seed


@kernel
def grown(index: Index, seeds: Ints, values: Floats, metric: Metric, k: int) -> Ints:
    """Grow a group around the first remaining one of `seeds`, again and again.

    Labels 0, 1, ... of the records of `values` (d, n), which `index` holds; -1 of the fewer than
    k that are left over.
    """
    d, n = values.shape
    where, point, group = positions(index, n), np.empty(d), np.empty(k, np.int32)
    labels, label, left, seen, buckets = np.full(n, -1, np.int32), 0, n, n, len(index.held)
    most = min(REACH * k, n)
    lanes, away, total = np.empty((d, most)), np.empty(most), np.empty(most)
    heap = Best(np.empty(most), np.empty(most, np.int32), np.empty(most, np.int32))
    near = np.empty(most, np.int32)
    for record in seeds:
        if left < k:
            break
        if labels[record] >= 0:
            continue
        if buckets > 1 and left < FRESH * seen:
            buckets, seen = compact(index, buckets), left
        count = min(most, left)
        best = Best(heap.near[:count], heap.at[:count], heap.ids[:count])
        for j in range(d):
            point[j] = values[j, record]
        nearest(index, buckets, metric, 1.0, where[record], point, best)
        for a in range(count):
            near[a] = index.ids[best.at[a]]
            if near[a] == record:
                near[0], near[a] = near[a], near[0]
        for j in range(d):
            for a in range(count):
                lanes[j, a] = values[j, near[a]]
        grow(lanes[:, :count], metric, near[:count], k, away, total)
        for m in range(k):
            labels[near[m]] = label
            join(index, buckets, where[near[m]], where, group, m)
        left -= k
        label += 1
    return labels


def ip(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    O(n^2 d / k) at worst, a few per cent of it with boxes, and O(n k d) to grow the groups.
    """
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    seeds = outermost(values, metric, centre_of(values, metric))
    labels = grown(buckets_of(values, metric), seeds, values, metric, k)
    return spread(values, metric, labels, k)
