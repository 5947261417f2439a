"""TFRP by hand, and against the paper's algorithm in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import brute_spread, distance_matrix, distances_to
from cases import CASES

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.tfrp import tfrp
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def run(points: Points, k: int) -> Labels:
    values, metric = arrays(points)
    return tfrp(values, metric, k)


def brute_tfrp(points: Points, k: int) -> Labels:
    between, left = distance_matrix(points), list(range(points.n))
    far_from = []
    for least_or_most in (np.min, np.max):
        corner = least_or_most(points.values, axis=1)
        if not points.metric.capped:
            corner = np.full(points.d, least_or_most(corner))
        else:
            corner = points.values[:, distances_to(points, corner).argmin()]
        far_from.append(distances_to(points, corner))
    labels, label = np.full(points.n, -1, np.int32), 0
    while len(left) >= k:
        far = far_from[label % 2]
        seed = min(left, key=lambda i: (-far[i], i))
        group = sorted(left, key=lambda i: (i != seed, between[seed, i], i))[:k]
        labels[group] = label
        left = [i for i in left if labels[i] < 0]
        label += 1
    return brute_spread(points, labels, k)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_equals_brute_force(case: str, k: int) -> None:
    assert (run(CASES[case], k) == brute_tfrp(CASES[case], k)).all()


def test_a_line_by_hand() -> None:
    # References 0 and 21. Furthest from 0 is 21: {21, 20}. Furthest from 21 is 0: {0, 1}.
    # Furthest from 0 of the rest is 11: {11, 10}. 2 is left over and nearest to {0, 1}.
    points = Points.euclidean(np.array([[0.0, 1, 2, 10, 11, 20, 21]]))
    assert run(points, 2).tolist() == [1, 1, 1, 2, 2, 0, 0]
