"""M-d: Laszlo and Mukherjee 2005, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.trees import cut_heaviest
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.members import break_up
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


@kernel
def spanning_tree(values: Floats, metric: Metric) -> tuple[Ints, Floats]:
    """Minimum spanning tree by Prim: the parent of every record (-1: record 0) and the distance.

    Ties go to the lower index. O(n^2 d) time, O(n d) memory.
    """
    d, n = values.shape
    rest, ids = values.copy(), np.arange(n).astype(np.int32)
    near, away, point = np.empty(n), np.full(n, np.inf), np.empty(d)
    parent, weight, closest = np.full(n, -1, np.int32), np.zeros(n), np.full(n, -1, np.int32)
    at = 0
    for left in range(n - 1, 0, -1):
        record = ids[at]
        for j in range(d):
            point[j] = rest[j, at]
            rest[j, at] = rest[j, left]
        ids[at], away[at], closest[at] = ids[left], away[left], closest[left]
        distances(rest, metric, point, left, near)
        at = 0
        for i in range(left):
            if near[i] < away[i] or closest[i] < 0:
                away[i], closest[i] = near[i], record
            if away[i] < away[at] or (away[i] == away[at] and ids[i] < ids[at]):
                at = i
        parent[ids[at]], weight[ids[at]] = closest[at], away[at]
    return parent, weight


def mst(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; O(n^2 d)."""
    parent, weight = spanning_tree(values, metric)
    return break_up(md, values, metric, k, cut_heaviest(parent, weight, k))
