"""Importance partitioning by hand, and against a plain numpy version."""

from __future__ import annotations

import numpy as np
import pytest
from brute import brute_spread, centre_of, distance_matrix, distances_to
from sample_points import CASES

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.ip import REACH, ip
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def brute_ip(points: Points, k: int) -> Labels:
    between, left = distance_matrix(points), list(range(points.n))
    far = distances_to(points, centre_of(points, left))
    labels, label = np.full(points.n, -1, np.int32), 0
    while len(left) >= k:
        seed = min(left, key=lambda i: (-far[i], i))
        near = sorted(left, key=lambda i: (i != seed, between[seed, i], i))[: REACH * k]
        group = [seed]
        while len(group) < k:
            rest = [i for i in near if i not in group]
            group.append(min(rest, key=lambda i: (between[i, group].sum(), i)))
        labels[group] = label
        left = [i for i in left if labels[i] < 0]
        label += 1
    return brute_spread(points, labels, k)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [2, 3, 7])
def test_equals_brute_force(case: str, k: int) -> None:
    assert (ip(*arrays(CASES[case]), k) == brute_ip(CASES[case], k)).all()


def test_the_third_member_is_near_the_centroid_by_hand() -> None:
    # The centre is at (5.4, 0.3) and (0, 0) furthest from it. It takes (1, 0); from the centroid
    # (0.5, 0) it is 1.4 to (1.9, 0), 1.46 to (0.3, 1.45), though the latter is nearer to the seed.
    right = [[10.0, 0.0], [10.0, 0.1], [10.0, 0.2], [10.0, 0.3]]
    left = [[0.0, 0.0], [1.0, 0.0], [1.9, 0.0], [0.3, 1.45]]
    labels = ip(*arrays(Points.euclidean(np.array(left + right).T)), 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
