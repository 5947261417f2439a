"""mu-Approx: Domingo-Ferrer, Sebe and Solanas 2008, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.index import Index
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.md import md
from sparkanon.numeric.mdav import buckets_of
from sparkanon.numeric.members import break_up
from sparkanon.numeric.nearest import Best, nearest
from sparkanon.numeric.peel import positions
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.trees import cut_heaviest


@tight
def root_of(above: Ints, v: int) -> int:
    """The root of the tree of `v`; shortens the way to it."""
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


@kernel
def forest(
    index: Index, values: Floats, caps: Floats, capped: bool, k: int
) -> tuple[Ints, Floats]:
    """Trees of k records or more: the parent of every record (-1 at roots) and the distance.

    In phases, the root of every tree that is too small gets the nearest record of another tree as
    its parent. It is among the k nearest, because its own tree holds fewer than k. As many
    searches of k nearest records as there are edges.
    """
    d, n = values.shape
    parent, weight = np.full(n, -1, np.int32), np.zeros(n)
    above, size = np.arange(n).astype(np.int32), np.ones(n, np.int32)
    where, point, buckets = positions(index, n), np.empty(d), len(index.held)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    small = True
    while small:
        small = False
        for u in range(n):
            if parent[u] >= 0 or size[u] >= k:
                continue
            for j in range(d):
                point[j] = values[j, u]
            nearest(index, buckets, caps, capped, 1.0, where[u], point, best)
            least, v = np.inf, -1
            for a in range(k):
                other, near = index.ids[best.at[a]], best.near[a]
                if near > least or (near == least and 0 <= v < other):
                    continue
                if root_of(above, other) != u:
                    least, v = near, other
            root = root_of(above, v)
            parent[u], weight[u], above[u] = v, least, root
            size[root] += size[u]
            small |= size[root] < k
    return parent, weight


def mu_approx(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; about O(n d buckets)."""
    parent, weight = forest(buckets_of(values, caps, capped), values, caps, capped, k)
    return break_up(md, values, caps, capped, codes, k, cut_heaviest(parent, weight, k))
