"""A path through all records, always to the nearest that is left."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints, centre_of
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.group.peel import FRESH, positions
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import Index, compact, take
from sparkanon.numeric.search.nearest import Best, nearest


@kernel
def visit(index: Index, n: int, metric: Metric, first: int) -> Ints:
    """The `n` records of the index from `first` on, always the nearest that is left."""
    d, width = index.values.shape[1], index.values.shape[2]
    order, point = np.empty(n, np.int32), np.empty(d)
    best = Best(np.empty(2), np.empty(2, np.int32), np.empty(2, np.int32))
    here, buckets, seen = positions(index, n)[first], len(index.held), n
    for at in range(n):
        order[at] = index.ids[here]
        if at == n - 1:
            break
        if n - at < FRESH * seen:
            buckets, seen = compact(index, buckets), n - at
        for j in range(d):
            point[j] = index.values[here // width, j, here % width]
        nearest(index, buckets, metric, 1.0, here, point, best)
        then = best.at[1] if best.at[0] == here else best.at[0]
        if take(index, here, buckets) == then:  # the last of a bucket fills the gap
            then = here
        here = then
    return order


def tour(values: Floats, metric: Metric, first: int) -> Ints:
    """Order of the records of `values` (d, n): nearest point next; ties by lower index.

    O(n^2 d) at worst, a few per cent of it with boxes.
    """
    return visit(buckets_of(values, metric), values.shape[1], metric, first)


@kernel
def from_centre(values: Floats, metric: Metric) -> Floats:
    """Distances (n,) of the records of `values` (d, n) from their centre; O(n d)."""
    middle, near = centre_of(values, metric), np.empty(values.shape[1])
    distances(values, metric, middle, len(near), near)
    return near


@kernel
def ends(values: Floats, metric: Metric) -> tuple[int, int]:
    """The record furthest from the centre of `values` (d, n), and the one furthest from that."""
    near = from_centre(values, metric)
    first, point = int(np.argmax(near)), np.empty(len(values))
    for j in range(len(values)):
        point[j] = values[j, first]
    distances(values, metric, point, len(near), near)
    return first, int(np.argmax(near))
