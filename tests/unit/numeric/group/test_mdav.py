"""MDAV by hand, and against the paper's algorithm in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import brute_mdav

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def run(points: Points, k: int) -> Labels:
    return mdav(*arrays(points), k)


def gower(rng: np.random.Generator, n: int, categories: int = 6) -> Points:
    """Two numbers (one with nulls) and two category columns, as the Gower space makes them."""
    caps = np.array([0.25, 0.25, 0.25, 0.25])
    nulls = np.where(rng.random(n) < 0.2, 2.0, rng.random(n))
    codes = rng.integers(0, categories, size=(2, n))
    values = np.vstack([rng.random(n), nulls, codes]) * caps[:, None]
    return Points(values, Metric.manhattan(caps, np.array([False, False, True, True])))


def test_seven_records_on_a_line_by_hand() -> None:
    # 0 1 2 | 10 11 | 20 21, k = 2, mean 65 / 7 = 9.29. Furthest is 21 (11.7 away): {21, 20}.
    # Furthest from 21 is 0: {0, 1}. Three are left (2, 10, 11), fewer than 2k: one group.
    points = Points.euclidean(np.array([[0.0, 1, 2, 10, 11, 20, 21]]))
    assert run(points, 2).tolist() == [1, 1, 2, 2, 2, 0, 0]


def test_the_tail_of_2k_to_3k_records_gives_two_groups_by_hand() -> None:
    # 0 1 5 6 9, k = 2: 5 records are fewer than 3k = 6. Mean 4.2, furthest is 9 (4.8): {9, 6}.
    # The rest is a group: {0, 1, 5}.
    points = Points.euclidean(np.array([[0.0, 1, 5, 6, 9]]))
    assert run(points, 2).tolist() == [1, 1, 1, 0, 0]


def test_ties_go_to_the_lower_index() -> None:
    # Mean 0; -4 and 4 are equally far, -4 has the lower index. Its neighbours at -3 are equal too.
    points = Points.euclidean(np.array([[-4.0, 4, -3, -3, 3, 3]]))
    assert run(points, 2).tolist() == [0, 1, 0, 2, 1, 2]


def test_capped_records_by_hand() -> None:
    # Numbers 0, 0.1, 0.9, 1 and a null, cap 1, k = 2; one null of five: the centre is 0.5.
    # The null stands at 2 and is 1 (the cap) from everything: it is furthest. Nearest to it: all
    # at 1, the lowest index wins: {null, 0}. Left: 0.1, 0.9, 1, fewer than 2k.
    metric = Metric.manhattan(np.ones(1), np.zeros(1, np.bool_))
    points = Points(np.array([[0.0, 0.1, 0.9, 1.0, 2.0]]), metric)
    assert run(points, 2).tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_small_tables(n: int) -> None:
    labels = run(Points.euclidean(np.arange(float(n))[None]), 2)
    assert labels.max() + 1 == max(n // 2, 1)


@pytest.mark.parametrize(("n", "d", "k"), [(40, 1, 3), (200, 3, 2), (203, 5, 7), (3000, 4, 5)])
def test_equals_brute_force_euclidean(n: int, d: int, k: int) -> None:
    points = Points.euclidean(np.random.default_rng(n).normal(size=(d, n)))
    assert (run(points, k) == brute_mdav(points, k)).all()


@pytest.mark.parametrize(("n", "k"), [(40, 3), (201, 2), (450, 5), (1500, 20)])
def test_equals_brute_force_capped(n: int, k: int) -> None:
    # Sums of few distinct numbers tie exactly in theory but not in floats: quarters are exact.
    points = gower(np.random.default_rng(n), n)
    assert (run(points, k) == brute_mdav(points, k)).all()


def test_equals_brute_force_with_many_equal_records() -> None:
    values = np.random.default_rng(1).integers(0, 3, size=(2, 1500)).astype(float)
    points = Points.euclidean(values)
    assert (run(points, 4) == brute_mdav(points, 4)).all()


def test_a_hundred_thousand_categories() -> None:
    n = 5000
    codes = np.random.default_rng(2).integers(0, 100_000, size=(1, n)) * 0.5
    labels = run(Points(codes, Metric.manhattan(np.array([0.5]), np.array([True]))), 5)
    assert np.bincount(labels).min() == 5


def test_buckets_give_what_one_bucket_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    points = Points.euclidean(np.random.default_rng(3).normal(size=(8, 5000)))
    fast = run(points, 5)
    monkeypatch.setattr("sparkanon.numeric.group.mdav.PLAIN", points.n)
    assert (fast == run(points, 5)).all()
