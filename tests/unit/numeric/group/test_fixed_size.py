"""CBFS and MD by hand, and against the papers' algorithms in plain numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from brute import brute_cbfs, brute_md

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.mdav import cbfs
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels

Brute = Callable[[Points, int], Labels]
KERNELS = [pytest.param(cbfs, brute_cbfs, id="cbfs"), pytest.param(md, brute_md, id="md")]


def gower(rng: np.random.Generator, n: int) -> Points:
    """Eighths and quarters, so that sums are exact and ties are many."""
    caps = np.full(3, 0.25)
    nulls = np.where(rng.random(n) < 0.2, 2.0, rng.integers(0, 9, n) / 8)
    values = np.vstack([rng.integers(0, 9, n) / 8, nulls, rng.integers(0, 5, n)]) * caps[:, None]
    return Points(values, Metric.manhattan(caps, np.array([False, False, True])))


def test_cbfs_takes_the_centre_anew_after_every_group_by_hand() -> None:
    # 0 1 2 10 11 20 21, k = 2, mean 9.29: furthest is 21: {21, 20}. Mean of 0 1 2 10 11 is 4.8:
    # furthest is 11 (6.2 away; MDAV would take 0, furthest from 21): {11, 10}. Left: 0 1 2.
    points = Points.euclidean(np.array([[0.0, 1, 2, 10, 11, 20, 21]]))
    assert cbfs(*arrays(points), 2).tolist() == [2, 2, 2, 1, 1, 0, 0]


def test_md_starts_at_the_ends_of_the_diameter_by_hand() -> None:
    # 0 and 9 are furthest apart; 0 is further from the mean 4.71: {0, 1}, then {9, 8}. 4, 5, 6 are
    # left, fewer than 2k.
    points = Points.euclidean(np.array([[5.0, 0, 9, 1, 8, 4, 6]]))
    assert md(*arrays(points), 2).tolist() == [2, 0, 1, 0, 1, 2, 2]


def test_md_with_fewer_than_3k_gives_the_outer_of_the_pair_a_group_by_hand() -> None:
    # 0 and 9 are the pair, 9 is further from the mean 4.2: {9, 6}. The others are one group.
    points = Points.euclidean(np.array([[9.0, 0, 1, 5, 6]]))
    assert md(*arrays(points), 2).tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize(("kernel", "brute"), KERNELS)
@pytest.mark.parametrize(("n", "d", "k"), [(11, 1, 2), (40, 1, 3), (203, 5, 7), (1500, 4, 5)])
def test_equals_brute_force_euclidean(
    kernel: Callable[..., Labels], brute: Brute, n: int, d: int, k: int
) -> None:
    points = Points.euclidean(np.random.default_rng(n).normal(size=(d, n)))
    assert (kernel(*arrays(points), k) == brute(points, k)).all()


@pytest.mark.parametrize(("kernel", "brute"), KERNELS)
@pytest.mark.parametrize(("n", "k"), [(23, 2), (450, 5), (1500, 20)])
def test_equals_brute_force_capped_with_ties(
    kernel: Callable[..., Labels], brute: Brute, n: int, k: int
) -> None:
    points = gower(np.random.default_rng(n), n)
    assert (kernel(*arrays(points), k) == brute(points, k)).all()


@pytest.mark.parametrize(("kernel", "brute"), KERNELS)
def test_equals_brute_force_with_many_equal_records(
    kernel: Callable[..., Labels], brute: Brute
) -> None:
    values = np.random.default_rng(1).integers(0, 3, size=(2, 1200)).astype(float)
    points = Points.euclidean(values)
    assert (kernel(*arrays(points), 4) == brute(points, 4)).all()
