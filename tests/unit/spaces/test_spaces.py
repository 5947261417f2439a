"""Distances by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces import SPACES, Classes
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower


def column(name: str, scale: Scale, cells: list[float | None]) -> Column:
    null = np.array([cell is None for cell in cells])
    return Column(name, scale, np.array([cell or 0.0 for cell in cells]), null)


def statistics(col: Column) -> ColumnStatistics:
    present = col.values[~col.null]
    plain = ColumnStatistics(col.name, col.scale, len(col.values), int(col.null.sum()))
    if col.scale is Scale.NOMINAL:
        return plain
    return ColumnStatistics(
        col.name, col.scale, plain.n, plain.nulls,
        float(present.mean()), float(present.std()), float(present.min()), float(present.max()),
    )  # fmt: skip


def distance(points: Points, i: int, j: int) -> float:
    step = np.abs(points.values[:, i] - points.values[:, j])
    metric = points.metric
    return float(np.minimum(step, metric.caps).sum() if metric.capped else (step**2).sum())


def test_euclidean_is_the_z_score() -> None:
    # mean 3, population sd sqrt(((1-3)^2 + (3-3)^2 + (5-3)^2) / 3) = sqrt(8/3)
    records = (column("a", Scale.NUMERIC, [1, 3, 5]), column("b", Scale.NUMERIC, [7, 7, 7]))
    points = Euclidean().fit([statistics(c) for c in records]).points(records)
    assert distance(points, 0, 1) == pytest.approx(4 / (8 / 3), rel=1e-5)
    assert distance(points, 0, 2) == pytest.approx(16 / (8 / 3), rel=1e-5)
    weighted = Euclidean(weights={"a": 4.0}).fit([statistics(c) for c in records]).points(records)
    assert distance(weighted, 0, 1) == pytest.approx(4 * 4 / (8 / 3), rel=1e-5)


def test_euclidean_null_stands_at_the_mean_with_a_mark() -> None:
    records = (column("a", Scale.NUMERIC, [1, 5, None, None]),)  # mean 3, sd 2
    points = Euclidean().fit([statistics(c) for c in records]).points(records)
    assert distance(points, 2, 3) == 0
    assert distance(points, 0, 2) == pytest.approx((2 / 2) ** 2 + 2)


def test_gower_is_the_mean_over_the_columns() -> None:
    records = (
        column("age", Scale.NUMERIC, [20, 30, 60, None]),
        column("sex", Scale.NOMINAL, [0, 1, 1, None]),
        column("school", Scale.ORDINAL, [0, 2, 4, 4]),
    )
    points = Gower().fit([statistics(c) for c in records]).points(records)
    assert distance(points, 0, 1) == pytest.approx((10 / 40 + 1 + 2 / 4) / 3)
    assert distance(points, 1, 2) == pytest.approx((30 / 40 + 0 + 2 / 4) / 3)
    assert distance(points, 2, 3) == pytest.approx((1 + 1 + 0) / 3)  # a null is another value
    assert distance(points, 0, 3) == pytest.approx((1 + 1 + 1) / 3)
    weighted = Gower(weights={"sex": 2.0}).fit([statistics(c) for c in records]).points(records)
    assert distance(weighted, 0, 1) == pytest.approx((10 / 40 + 2 * 1 + 2 / 4) / 4)


@pytest.mark.parametrize("key", SPACES.keys())
def test_every_space_gives_finite_contiguous_points(key: str) -> None:
    space = SPACES.build({"name": key} | ({"target": "y"} if key == "lda" else {}))
    taken = (scale for scale in Scale if scale in space.scales)
    records = (
        *(column(scale.value, scale, [0, 1, 2, None]) for scale in taken),
        column("constant", Scale.NUMERIC, [5, 5, 5, 5]),
    )
    d = len(records)
    means = np.zeros((2, d))
    means[1, 0] = 1.0
    codes = np.array([0, 0, 1, 1])
    classes = Classes(np.array([2.0, 2.0]), means, np.eye(d), records, codes, k=2)
    fitted = space.fit([statistics(c) for c in records], classes if space.guide() else None)
    points = fitted.points(records)
    assert fitted.units.keys() == {c.name for c in records}
    assert points.values.flags.c_contiguous
    assert points.values.dtype == np.float64
    assert np.isfinite(points.values).all()
    assert points.n == 4
    assert len(points.metric.codes) == len(points.metric.caps) == points.d


def test_statistics_are_put_on_a_grid_that_sums_in_another_order_do_not_leave() -> None:
    exact = ColumnStatistics("a", Scale.NUMERIC, 9, 0, mean=1.2345678901234, sd=0.98765432109)
    other = ColumnStatistics("a", Scale.NUMERIC, 9, 0, mean=1.2345678901235, sd=0.98765432108)
    assert exact.steady_sd() == other.steady_sd()
    assert exact.steady_mean() == other.steady_mean()
    assert exact.steady_sd() == pytest.approx(exact.sd, rel=1e-5)
