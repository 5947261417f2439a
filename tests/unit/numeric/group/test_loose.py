"""Leftovers and the second phase of TFRP and DBA."""

from __future__ import annotations

import numpy as np
import pytest
from brute import away, brute_spread, cost, distance_matrix
from sample_points import CASES

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.loose import dissolve, second_phase, spread, total_cost
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def brute_dissolve(points: Points, labels: Labels, most: int) -> Labels:
    between, labels = distance_matrix(points), labels.copy()
    costs = [away_cost(between, labels, g) for g in range(labels.max() + 1)]
    for g in np.argsort(-np.array(costs), kind="stable"):
        trial = labels.copy()
        members = np.flatnonzero(labels == g).tolist()
        groups = {h: np.flatnonzero(labels == h).tolist() for h in set(labels) - {g}}
        for i in sorted(members, key=lambda i: -between[i, members].sum()):
            room = [h for h in groups if (trial == h).sum() < most]
            if not room:
                trial = labels
                break
            trial[i] = min(room, key=lambda h: away(between, i, groups[h]))
        if cost_of(between, trial) < cost_of(between, labels):
            labels = trial
    return labels


def away_cost(between: np.ndarray, labels: Labels, g: int) -> float:
    members = np.flatnonzero(labels == g)
    return float(between[np.ix_(members, members)].sum() / 2 / len(members))


def cost_of(between: np.ndarray, labels: Labels) -> float:
    return sum(away_cost(between, labels, g) for g in np.unique(labels))


def random_groups(n: int, k: int) -> Labels:
    return np.random.default_rng(n).permutation(np.arange(n) // k % (n // k)).astype(np.int32)


@pytest.mark.parametrize("case", ["40", "203", "clustered", "capped"])
@pytest.mark.parametrize("most", [7, 1000])
def test_dissolve_equals_brute_force(case: str, most: int) -> None:
    points = CASES[case]
    values, metric = arrays(points)
    start = random_groups(points.n, 3)
    labels = dissolve(values, metric, start, most)
    assert len(np.unique(labels)) < len(np.unique(start)), "nothing was dissolved"
    assert (labels == brute_dissolve(points, start, most)).all()


@pytest.mark.parametrize("case", ["203", "capped"])
def test_total_cost(case: str) -> None:
    points = CASES[case]
    values, metric = arrays(points)
    labels = random_groups(points.n, 4)
    assert total_cost(values, metric, labels) == pytest.approx(cost(points, labels))


@pytest.mark.parametrize("case", ["203", "capped"])
def test_leftovers_go_where_there_is_room(case: str) -> None:
    points = CASES[case]
    values, metric = arrays(points)
    labels = random_groups(points.n, 4)
    labels[::5] = -1
    spreaded = spread(values, metric, labels, 4)
    assert (spreaded == brute_spread(points, labels, 4)).all()
    assert np.bincount(spreaded).max() <= 7


def test_dissolved_by_hand() -> None:
    # {0, 10} costs 50. Without it 0 goes to {1, 2}: 1.5^2 * 2 / 3 = 1.5, and 10 to {11, 12}: 1.5.
    points = Points.euclidean(np.array([[0.0, 10, 1, 2, 11, 12]]))
    values, metric = arrays(points)
    start = np.array([0, 0, 1, 1, 2, 2], np.int32)
    assert dissolve(values, metric, start, 6).tolist() == [1, 2, 1, 1, 2, 2]
    assert second_phase(values, metric, start, 2, 6).tolist() == [0, 1, 0, 0, 1, 1]
    # No room for 10 beside two others: everybody stays.
    assert dissolve(values, metric, start, 2).tolist() == start.tolist()


@pytest.mark.parametrize("case", ["203", "capped"])
def test_groups_of_2k_are_cut(case: str) -> None:
    points = CASES[case]
    values, metric = arrays(points)
    start = random_groups(points.n, 3)
    loose = dissolve(values, metric, start, points.n)
    labels = second_phase(values, metric, start, 3, points.n)
    assert np.bincount(loose).max() >= 6, "nothing to cut"
    assert np.bincount(labels).min() >= 3
    assert np.bincount(labels).max() < 6
    pairs = np.unique(np.column_stack([labels, loose]), axis=0)
    assert len(pairs) == labels.max() + 1, "a group of records that were not together"
