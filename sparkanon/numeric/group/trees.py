"""Groups from trees: cut the heaviest edges that leave k records on both sides."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Floats


@kernel
def leaves_first(parent: Ints) -> Ints:
    """Nodes of a forest so that every one comes before its parent; O(n)."""
    n = len(parent)
    children, order, filled = np.zeros(n, np.int32), np.empty(n, np.int32), 0
    for v in range(n):
        if parent[v] >= 0:
            children[parent[v]] += 1
    for v in range(n):
        if children[v] == 0:
            order[filled] = v
            filled += 1
    for at in range(n):
        up = parent[order[at]]
        if up >= 0:
            children[up] -= 1
            if children[up] == 0:
                order[filled] = up
                filled += 1
    return order


@kernel
def cut_heaviest(parent: Ints, weight: Floats, k: int) -> Ints:
    """Cut the edges of a forest (`parent` -1 at roots), heaviest first, where both sides keep k.

    Returns the labels 0, 1, ... of the trees that are left. O(n log n + walks to the root).
    """
    n = len(parent)
    parent, order, below = parent.copy(), leaves_first(parent), np.ones(n, np.int32)
    for v in order:
        if parent[v] >= 0:
            below[parent[v]] += below[v]
    for v in np.argsort(-weight, kind="mergesort"):
        if parent[v] < 0 or below[v] < k:
            continue
        root = v
        while parent[root] >= 0:
            root = parent[root]
        if below[root] - below[v] >= k:
            up, parent[v] = parent[v], -1
            while up >= 0:
                below[up] -= below[v]
                up = parent[up]
    labels, label = np.empty(n, np.int32), 0
    for at in range(n - 1, -1, -1):
        v = order[at]
        if parent[v] < 0:
            labels[v] = label
            label += 1
        else:
            labels[v] = labels[parent[v]]
    return labels
