"""A group that grows from its seed, always by the record that costs least."""

from __future__ import annotations

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import tight
from sparkanon.numeric.metric import Metric, Reals


@tight
def grow(lanes: Reals, metric: Metric, names: Ints, k: int, away: Reals, total: Reals) -> None:
    """Move the k of `names` that a group grows to to the front; names[0] is its seed.

    The next one is always that with the least sum of distances to the members so far: for a
    squared distance the one nearest to their centroid. Ties go to the lower name. `lanes`
    (d, count) are the coordinates and move along; `away` and `total` (count,) are scratch.
    O(count k d).
    """
    count = len(names)
    for i in range(count):
        total[i] = 0.0
    for m in range(1, k):
        distances(lanes, metric, lanes[:, m - 1], count, away)
        best = m
        for i in range(m, count):
            total[i] += away[i]
            if total[i] < total[best] or (total[i] == total[best] and names[i] < names[best]):
                best = i
        names[m], names[best] = names[best], names[m]
        total[m], total[best] = total[best], total[m]
        for j in range(len(lanes)):
            lanes[j, m], lanes[j, best] = lanes[j, best], lanes[j, m]
