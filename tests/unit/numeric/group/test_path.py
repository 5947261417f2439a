"""The cheapest groups along a path, against all partitions of a short one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from brute import cost
from test_mdav import gower

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.path import optimal_path
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points


def partitions(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Sizes k..2k-1 of consecutive stretches that sum to n."""
    if n == 0:
        yield ()
    for size in range(k, min(2 * k - 1, n) + 1):
        for rest in partitions(n - size, k):
            yield (size, *rest)


def along(order: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    labels = np.empty(len(order), np.int32)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


@pytest.mark.parametrize("space", ["euclidean", "gower"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_partition_of_the_path_costs_less(space: str, k: int) -> None:
    for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k + 1, 13):
        rng = np.random.default_rng(n)
        points = Points.euclidean(rng.normal(size=(3, n)))
        if space == "gower":
            points = gower(rng, n)
        values, metric = arrays(points)
        order = rng.permutation(n).astype(np.int32)
        labels = optimal_path(values, metric, order, k)
        assert labels.dtype == np.int32
        costs = {sizes: cost(points, along(order, sizes)) for sizes in partitions(n, k)}
        best = min(costs, key=lambda sizes: costs[sizes])
        assert cost(points, labels) == pytest.approx(costs[best], rel=1e-12)
        assert (labels == along(order, best)).all()


def test_clumps_along_a_line_are_found_by_hand() -> None:
    # 3 + 5 + 4 records in clumps that lie far apart; k = 3 would cut nine of twelve into threes.
    clumps = [0.0, 1.0, 2.0, 50.0, 50.5, 51.0, 51.5, 52.0, 90.0, 91.0, 92.0, 93.0]
    found = optimal_path(np.array([clumps]), Metric.euclidean(1), np.arange(12, dtype=np.int32), 3)
    assert found.tolist() == [0] * 3 + [1] * 5 + [2] * 4


@pytest.mark.parametrize("shift", [1e9, -3e12])
def test_data_far_from_zero_lose_no_digits(shift: float) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 1000, size=(2, 60)).astype(float)  # exact wherever they stand
    order = np.argsort(values[0]).astype(np.int32)
    here = optimal_path(values, Metric.euclidean(2), order, 4)
    assert (here == optimal_path(values + shift, Metric.euclidean(2), order, 4)).all()


@pytest.mark.parametrize("scale", [1e60, 1e-60, 1e200])
def test_sizes_hold_for_data_of_any_size(scale: float) -> None:
    values = scale * np.random.default_rng(0).normal(size=(2, 101))
    order = np.argsort(values[0]).astype(np.int32)
    sizes = np.bincount(optimal_path(values, Metric.euclidean(2), order, 7))
    assert 7 <= sizes.min() <= sizes.max() <= 13
    assert sizes.sum() == 101
