"""mu-Approx: Domingo-Ferrer, Sebe and Solanas 2008, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.group.tour import from_centre
from sparkanon.numeric.group.trees import cut_heaviest
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.members import break_up
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index
from sparkanon.numeric.search.nearest import Best, nearest


@tight
def root_of(above: Ints, v: int) -> int:
    """The root of the tree of `v`; shortens the way to it."""
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


@kernel
def forest(
    index: Index, values: Floats, metric: Metric, k: int, outward: Floats
) -> tuple[Ints, Floats]:
    """Trees of k records or more: the parent of every record (-1 at roots) and the distance.

    In phases: the root of every tree that is too small looks for the nearest record of another
    tree, and the shortest of these edges go first. Of two roots that are each other's nearest the
    one that is further `outward` (n,) hangs on the other, whatever their order. That record is
    among the k nearest, because a tree that looks holds fewer than k. A few searches of k nearest
    records for each record.
    """
    d, n = values.shape
    parent, weight = np.full(n, -1, np.int32), np.zeros(n)
    above, size = np.arange(n).astype(np.int32), np.ones(n, np.int32)
    where, point, buckets = positions(index, n), np.empty(d), len(index.held)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    target, away = np.empty(n, np.int32), np.empty(n)
    roots = np.argsort(-outward, kind="mergesort")
    while len(roots) > 0:
        for u in roots:
            for j in range(d):
                point[j] = values[j, u]
            nearest(index, buckets, metric, 1.0, where[u], point, best)
            least, v = np.inf, -1
            for a in range(k):
                other, near = index.ids[best.at[a]], best.near[a]
                if near > least or (near == least and 0 <= v < other):
                    continue
                if root_of(above, other) != u:
                    least, v = near, other
            target[u], away[u] = v, least
        for u in roots[np.argsort(away[roots], kind="mergesort")]:
            root = root_of(above, target[u])
            if size[u] < k and root != u:
                parent[u], weight[u], above[u] = target[u], away[u], root
                size[root] += size[u]
        roots = np.array([u for u in roots if parent[u] < 0 and size[u] < k])
    return parent, weight


def mu_approx(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; about O(n d buckets)."""
    index = buckets_of(values, metric)
    outward = from_centre(values, metric)
    parent, weight = forest(index, values, metric, k, outward)
    return break_up(md, values, metric, k, cut_heaviest(parent, weight, k))
