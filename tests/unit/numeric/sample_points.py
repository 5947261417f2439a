"""Points without ties for tests against brute force, for both distances."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points


def euclidean(n: int, d: int = 3) -> Points:
    return Points.euclidean(np.random.default_rng(n).normal(size=(d, n)))


def clustered(n: int) -> Points:
    rng = np.random.default_rng(n)
    return Points.euclidean(rng.integers(0, 5, size=(2, n)) + 0.05 * rng.normal(size=(2, n)))


def capped(n: int) -> Points:
    """Three numbers, one with nulls, and a category, as the Gower space makes them."""
    rng = np.random.default_rng(n)
    caps = np.full(4, 0.25)
    numbers = rng.random((3, n))
    numbers[1, rng.random(n) < 0.2] = 2.0
    values = np.vstack([numbers, rng.integers(0, 4, n)]) * caps[:, None]
    return Points(values, Metric.manhattan(caps, np.array([False, False, False, True])))


CASES = {
    "40": euclidean(40),
    "203": euclidean(203),
    "clustered": clustered(300),
    "capped": capped(200),
    "leaves": euclidean(1100, 4),
}
