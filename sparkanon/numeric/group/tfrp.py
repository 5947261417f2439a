"""TFRP: Chang, Li and Huang 2007, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.around import around, outermost
from sparkanon.numeric.group.loose import second_phase, spread
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


def references(values: Floats, metric: Metric) -> tuple[Floats, Floats]:
    """The two fixed points: all coordinates the least, or the largest, of all numbers there are.

    Of capped coordinates each has a scale of its own, and such points would be as far as can be
    from everybody: there they are the records nearest to the corners of all records.
    """
    if not metric.capped:
        return np.full(len(values), values.min()), np.full(len(values), values.max())
    near, found = np.empty(values.shape[1]), []
    for corner in (values.min(axis=1), values.max(axis=1)):
        distances(values, metric, corner, len(near), near)
        found.append(values[:, near.argmin()].copy())
    return found[0], found[1]


def tfrp(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    O(n^2 d / k) at worst, a few per cent of it with boxes.
    """
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    seeds = np.empty((2, n), np.int32)
    for side, reference in enumerate(references(values, metric)):
        seeds[side] = outermost(values, metric, reference)
    labels = around(buckets_of(values, metric), seeds, values, metric, k, 0.0)
    return spread(values, metric, labels, k)


def tfrp2(values: Floats, metric: Metric, k: int) -> Ints:
    """`tfrp` and its second phase, in which groups of 4k-1 records take no more; O(n^2 d / k)."""
    labels = tfrp(values, metric, k)
    return second_phase(values, metric, labels, k, 4 * k - 1)
