"""TFRP by hand, and against the paper's algorithm in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import Remaining, brute_spread, distances_to
from sample_points import CASES

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.tfrp import tfrp
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def run(points: Points, k: int) -> Labels:
    values, metric = arrays(points)
    return tfrp(values, metric, k)


def brute_tfrp(points: Points, k: int) -> Labels:
    far_from = []
    for least_or_most in (np.min, np.max):
        corner = least_or_most(points.values, axis=1)
        if not points.metric.capped:
            corner = np.full(points.d, least_or_most(corner))
        else:
            corner = points.values[:, distances_to(points, corner).argmin()]
        far_from.append(distances_to(points, corner))
    rest = Remaining(points, k)
    while len(rest.left) >= k:
        rest.group_around(rest.furthest(far_from[rest.label % 2]))
    return brute_spread(points, rest.labels, k)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_equals_brute_force(case: str, k: int) -> None:
    assert (run(CASES[case], k) == brute_tfrp(CASES[case], k)).all()


def test_a_line_by_hand() -> None:
    # References 0 and 21. Furthest from 0 is 21: {21, 20}. Furthest from 21 is 0: {0, 1}.
    # Furthest from 0 of the rest is 11: {11, 10}. 2 is left over and nearest to {0, 1}.
    points = Points.euclidean(np.array([[0.0, 1, 2, 10, 11, 20, 21]]))
    assert run(points, 2).tolist() == [1, 1, 1, 2, 2, 0, 0]
