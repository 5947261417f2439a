"""DBA by hand, and against the paper's algorithm in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import brute_spread, distance_matrix
from sample_points import CASES

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.dba import dba
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def run(points: Points, k: int) -> Labels:
    values, metric = arrays(points)
    return dba(values, metric, k)


def brute_dba(points: Points, k: int) -> Labels:
    """All densities anew for every group."""
    between, left = distance_matrix(points), np.arange(points.n)
    labels, label = np.full(points.n, -1, np.int32), 0
    while len(left) >= k:
        near = left[np.argsort(between[np.ix_(left, left)], axis=1, kind="stable")[:, :k]]
        if not points.metric.capped:
            held = points.values[:, near]
            loose = ((held - held.mean(axis=2, keepdims=True)) ** 2).sum(axis=(0, 2))
        else:
            loose = between[left[:, None], near].sum(axis=1)
        labels[near[loose.argmin()]] = label
        left = np.flatnonzero(labels < 0)
        label += 1
    return brute_spread(points, labels, k)


SMALL = [(case, k) for case in CASES for k in (2, 3, 7) if case != "leaves"]


@pytest.mark.parametrize(("case", "k"), [*SMALL, ("leaves", 30)])
def test_equals_brute_force(case: str, k: int) -> None:
    assert (run(CASES[case], k) == brute_dba(CASES[case], k)).all()


def test_a_line_by_hand() -> None:
    # k = 2, half the squared gap is the looseness: 10 10.5 is the densest pair, then 0 1; of
    # 3, 20 and 30 the pair 20 30 (50) is denser than 3 20 (144.5). 3 is left over: to {0, 1}.
    points = Points.euclidean(np.array([[0.0, 1, 3, 10, 10.5, 20, 30]]))
    assert run(points, 2).tolist() == [1, 1, 1, 0, 0, 2, 2]
