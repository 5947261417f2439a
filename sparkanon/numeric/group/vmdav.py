"""V-MDAV: Solanas and Martinez-Balleste 2006, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints, centre_of
from sparkanon.numeric.distance import distances, from_length
from sparkanon.numeric.group.around import around, outermost
from sparkanon.numeric.group.loose import spread, total_cost
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats

GAMMAS = (0.0, 0.2, 0.5, 0.8, 1.1)  # no extension, scattered data, ..., clustered data
TRIAL = 4096  # records that decide which of them is taken


def vmdav(values: Floats, metric: Metric, k: int, gamma: float | None) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    Without a `gamma`, the one of `GAMMAS` of least cost; in a large block only 0 and the one of
    least cost in a region of `TRIAL` records. O(n^2 d) at worst, a few per cent of it with boxes.
    """
    if gamma is not None:
        return extended(values, metric, k, gamma)
    gammas, trial = list(GAMMAS), region(values, metric, max(TRIAL, 4 * k))
    if trial is not values:
        gammas = [0.0, GAMMAS[least(trial, metric, k, gammas)[0]]]
    return least(values, metric, k, gammas)[1]


def least(values: Floats, metric: Metric, k: int, gammas: list[float]) -> tuple[int, Ints]:
    """Which of `gammas` costs least, the first if several do, and its labels."""
    tried = [extended(values, metric, k, gamma) for gamma in gammas]
    best = int(np.argmin([total_cost(values, metric, labels) for labels in tried]))
    return best, tried[best]


def extended(values: Floats, metric: Metric, k: int, gamma: float) -> Ints:
    """V-MDAV with the given `gamma`, which compares lengths: squared for a squared distance."""
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    seeds = outermost(values, metric, centre_of(values, metric))
    gain = from_length(metric, gamma)
    index = buckets_of(values, metric)
    labels = around(index, seeds[None], values, metric, k, gain)
    return spread(values, metric, labels, k)


def region(values: Floats, metric: Metric, count: int) -> Floats:
    """The `count` records around one that is halfway out, as dense as they are in the block."""
    n = values.shape[1]
    if n <= count:
        return values
    outward = outermost(values, metric, centre_of(values, metric))
    near = np.empty(n)
    distances(values, metric, values[:, outward[n // 2]].copy(), n, near)
    chosen = np.sort(np.argsort(near, kind="stable")[:count])
    return np.ascontiguousarray(values[:, chosen])
