"""Every registered grouping keeps the contract, whatever the data look like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sparkanon.groupings import GROUPINGS, Grouping
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats

Maker = Callable[[np.random.Generator, int], Floats]

DATA: dict[str, Maker] = {
    "random": lambda rng, n: rng.normal(size=(3, n)),
    "one column": lambda rng, n: rng.normal(size=(1, n)),
    "many columns": lambda rng, n: rng.normal(size=(13, n)),
    "duplicated": lambda rng, n: rng.integers(0, 2, size=(2, n)).astype(float),
    "constant": lambda rng, n: np.full((2, n), 7.5),
    "collinear": lambda rng, n: np.outer([1.0, -2.0, 0.5], rng.normal(size=n)),
    "outlier": lambda rng, n: np.concatenate([[[1e12], [1.0]], rng.random((2, n - 1))], axis=1),
    "large": lambda rng, n: 1e9 + 1e9 * rng.random((2, n)),
    "far away": lambda rng, n: 1e9 + rng.random((2, n)),
    "huge": lambda rng, n: 1e60 * rng.normal(size=(2, n)),
    "overflowing": lambda rng, n: 1e200 * rng.normal(size=(2, n)),
    "tiny": lambda rng, n: 1e-60 * rng.normal(size=(2, n)),
}


def euclidean(name: str, n: int) -> Points:
    return Points.euclidean(DATA[name](np.random.default_rng(n), n))


def gower(n: int, categories: int = 9) -> Points:
    rng = np.random.default_rng(n)
    caps = np.array([0.5, 0.25, 0.25])
    numbers = np.where(rng.random(n) < 0.3, 2.0, rng.random(n))
    values = np.vstack([rng.random(n), numbers, rng.integers(0, categories, n)]) * caps[:, None]
    return Points(values, caps, np.array([False, False, True]))


def check(grouping: Grouping, points: Points, k: int) -> None:
    before = points.values.copy()
    labels = grouping.group(points, k, np.random.default_rng(0))
    assert labels.shape == (points.n,)
    assert labels.dtype == np.int32
    assert labels.min() == 0
    sizes = np.bincount(labels)
    assert sizes.min() >= k, "a group below k"
    if grouping.bounded:
        assert sizes.max() < 2 * k
    if points.n < 2 * k:
        assert len(sizes) == 1
    assert (points.values == before).all(), "the points were changed"
    again = grouping.group(points, k, np.random.default_rng(1))
    assert (labels == again).all(), "not deterministic"


@pytest.fixture(params=list(GROUPINGS), ids=GROUPINGS.keys())
def grouping(request: pytest.FixtureRequest) -> Grouping:
    made: Grouping = request.param()
    return made


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("k", [2, 3, 7, 20])
def test_partition_into_k_to_2k(grouping: Grouping, data: str, k: int) -> None:
    for n in (k, k + 1, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 5 * k + 1, 400):
        check(grouping, euclidean(data, n), k)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_partition_with_nulls_and_categories(grouping: Grouping, k: int) -> None:
    for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 5 * k + 1, 400, 1500):
        check(grouping, gower(n), k)


@pytest.mark.parametrize("data", DATA)
def test_blocks_of_many_leaves(grouping: Grouping, data: str) -> None:
    check(grouping, euclidean(data, 5003), 4)


def test_many_records_nulls_and_categories(grouping: Grouping) -> None:
    check(grouping, gower(5003), 4)
    check(grouping, gower(5003, categories=100_000), 3)


@pytest.mark.parametrize("k", [500, 1999, 2500, 5000])
def test_large_k(grouping: Grouping, k: int) -> None:
    check(grouping, euclidean("random", 5000), k)


def test_only_nulls(grouping: Grouping) -> None:
    points = Points(np.full((2, 50), 0.5), np.full(2, 0.25), np.zeros(2, np.bool_))
    check(grouping, points, 3)


def test_read_only_arrays_are_served(grouping: Grouping) -> None:
    points = euclidean("random", 100)
    points.values.setflags(write=False)
    check(grouping, points, 3)


def test_specs_say_what_they_are(grouping: Grouping) -> None:
    assert grouping.title
    assert grouping.source
    assert grouping.block_rows >= 10_000
    assert GROUPINGS.build(GROUPINGS.config(grouping)) == grouping
