"""Paths through records and groups, by hand and against plain numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from brute import cost, distance_matrix
from test_fixed_size import gower

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.mdav import cbfs, mdav
from sparkanon.numeric.group.mhm import mhm, middles, npn_mhm, thread
from sparkanon.numeric.group.tour import ends, tour
from sparkanon.numeric.members import Heuristic, members
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points


def brute_tour(points: Points, first: int) -> list[int]:
    between, path = distance_matrix(points), [first]
    while len(path) < points.n:
        left = (i for i in range(points.n) if i not in path)
        path.append(min(left, key=lambda i: (between[path[-1], i], i)))
    return path


def walk(points: Points, first: int) -> list[int]:
    values, metric = arrays(points)
    return [int(i) for i in tour(values, metric, first)]


def test_nearest_point_next_by_hand() -> None:
    # From 5: 6 is nearer than 3; from 6 to 8, then back over 5's place to 3 and 0.
    assert walk(Points.euclidean(np.array([[0.0, 3, 5, 6, 8]])), 2) == [2, 3, 4, 1, 0]


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (300, 3), (600, 4)])
def test_tour_equals_brute_force(n: int, d: int) -> None:
    points = Points.euclidean(np.random.default_rng(n).normal(size=(d, n)))
    assert walk(points, n // 2) == brute_tour(points, n // 2)


def test_tour_equals_brute_force_with_ties() -> None:
    rng = np.random.default_rng(4)
    grid = Points.euclidean(rng.integers(0, 4, size=(2, 500)).astype(float))
    assert walk(grid, 7) == brute_tour(grid, 7)
    mixed = gower(rng, 500)
    assert walk(mixed, 499) == brute_tour(mixed, 499)


def test_ends_by_hand() -> None:
    # Mean of 0 1 2 9 is 3: furthest is 9, furthest from 9 is 0.
    points = Points.euclidean(np.array([[1.0, 0, 2, 9]]))
    assert ends(*arrays(points)) == (3, 1)


def test_the_path_goes_through_a_group_from_the_one_before_to_the_one_after() -> None:
    # Groups {9 5 7}, {0 2 1}, {20 18}; in the order 1, 0, 2 the path must rise all the way.
    values = np.array([[9.0, 0, 20, 5, 2, 18, 7, 1]])
    starts, records = members(np.array([0, 1, 2, 0, 1, 2, 0, 1], np.int32))
    rows, metric = np.ascontiguousarray(values.T), Metric.euclidean(1)
    centres = middles(rows, metric, starts, records)
    assert centres.ravel().tolist() == [7.0, 1.0, 19.0]
    groups = np.array([1, 0, 2], np.int32)
    path = thread(rows, metric, starts, records, centres, groups)
    assert values[0, path].tolist() == [0, 1, 2, 5, 7, 9, 18, 20]


def test_the_middle_of_a_capped_group_is_the_member_nearest_to_the_others() -> None:
    # Cap 1: sums of distances are 0.4 + 1 = 1.4 from 0, 0.4 + 0.9 = 1.3 from 0.4, 1.9 from 1.3.
    rows = np.array([[0.0], [0.4], [1.3]])
    starts, records = members(np.zeros(3, np.int32))
    metric = Metric.manhattan(np.ones(1), np.zeros(1, np.bool_))
    assert middles(rows, metric, starts, records).tolist() == [[0.4]]


@pytest.mark.parametrize("k", [2, 3])
def test_on_a_line_npn_finds_the_optimum(k: int) -> None:
    # The path from the furthest record runs along the line, so no partition can be cheaper.
    values = np.cumsum(np.random.default_rng(k).random(9) ** 3)
    values[8] += 10  # the mean is then near the others, and both ends start a monotone path
    points = Points.euclidean(values[None])
    found = cost(points, npn_mhm(*arrays(points), k))
    cuts = [
        np.searchsorted(at, np.arange(9), side="right").astype(np.int32)
        for count in range(9 // k)
        for at in itertools.combinations(range(k, 10 - k), count)
    ]
    allowed = [labels for labels in cuts if np.bincount(labels).min() >= k]
    assert found == pytest.approx(min(cost(points, labels) for labels in allowed))


@pytest.mark.parametrize("heuristic", [mdav, md, cbfs])
@pytest.mark.parametrize("k", [2, 5])
def test_never_worse_than_the_heuristic(heuristic: Heuristic, k: int) -> None:
    rng = np.random.default_rng(k)
    for points in (Points.euclidean(rng.normal(size=(3, 223))), gower(rng, 223)):
        given, found = heuristic(*arrays(points), k), mhm(heuristic, *arrays(points), k)
        assert k <= np.bincount(found).min() <= np.bincount(found).max() < 2 * k
        assert cost(points, found) < cost(points, given)
