"""Distances by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sparkanon.in_memory import statistics_of
from sparkanon.needs import Known
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces import Space
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower
from sparkanon.spaces.needs import Moments


def column(name: str, scale: Scale, cells: list[float | None]) -> Column:
    null = np.array([cell is None for cell in cells])
    return Column(name, scale, np.array([cell or 0.0 for cell in cells]), null)


def points_of(space: Space, records: Records) -> Points:
    return space.fit(Known({Moments(): tuple(map(statistics_of, records))})).points(records)


def distance(points: Points, i: int, j: int) -> float:
    step = np.abs(points.values[:, i] - points.values[:, j])
    metric = points.metric
    return float(np.minimum(step, metric.caps).sum() if metric.capped else (step**2).sum())


def test_euclidean_is_the_z_score() -> None:
    # mean 3, population sd sqrt(((1-3)^2 + (3-3)^2 + (5-3)^2) / 3) = sqrt(8/3)
    records = (column("a", Scale.NUMERIC, [1, 3, 5]), column("b", Scale.NUMERIC, [7, 7, 7]))
    points = points_of(Euclidean(), records)
    assert distance(points, 0, 1) == pytest.approx(4 / (8 / 3), rel=1e-5)
    assert distance(points, 0, 2) == pytest.approx(16 / (8 / 3), rel=1e-5)
    weighted = points_of(Euclidean(weights={"a": 4.0}), records)
    assert distance(weighted, 0, 1) == pytest.approx(4 * 4 / (8 / 3), rel=1e-5)


def test_euclidean_null_stands_at_the_mean_with_a_mark() -> None:
    records = (column("a", Scale.NUMERIC, [1, 5, None, None]),)  # mean 3, sd 2
    points = points_of(Euclidean(), records)
    assert distance(points, 2, 3) == 0
    assert distance(points, 0, 2) == pytest.approx((2 / 2) ** 2 + 2)


def test_gower_is_the_mean_over_the_columns() -> None:
    records = (
        column("age", Scale.NUMERIC, [20, 30, 60, None]),
        column("sex", Scale.NOMINAL, [0, 1, 1, None]),
        column("school", Scale.ORDINAL, [0, 2, 4, 4]),
    )
    points = points_of(Gower(), records)
    assert distance(points, 0, 1) == pytest.approx((10 / 40 + 1 + 2 / 4) / 3)
    assert distance(points, 1, 2) == pytest.approx((30 / 40 + 0 + 2 / 4) / 3)
    assert distance(points, 2, 3) == pytest.approx((1 + 1 + 0) / 3)  # a null is another value
    assert distance(points, 0, 3) == pytest.approx((1 + 1 + 1) / 3)
    weighted = points_of(Gower(weights={"sex": 2.0}), records)
    assert distance(weighted, 0, 1) == pytest.approx((10 / 40 + 2 * 1 + 2 / 4) / 4)


def test_statistics_are_put_on_a_grid_that_sums_in_another_order_do_not_leave() -> None:
    exact = ColumnStatistics("a", Scale.NUMERIC, 9, 0, mean=1.2345678901234, sd=0.98765432109)
    other = ColumnStatistics("a", Scale.NUMERIC, 9, 0, mean=1.2345678901235, sd=0.98765432108)
    assert exact.steady_sd() == other.steady_sd()
    assert exact.steady_mean() == other.steady_mean()
    assert exact.steady_sd() == pytest.approx(exact.sd, rel=1e-5)
