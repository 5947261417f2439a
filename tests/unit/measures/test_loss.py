"""SSE, SST and IL by hand, and the histogram of class sizes."""

from __future__ import annotations

import numpy as np
import pytest
from toys import taken

from sparkanon.measures import loss
from sparkanon.measures.anonymity import bucket_of, class_sizes
from sparkanon.numeric.records import Column, Scale
from sparkanon.numeric.statistics import ColumnStatistics


def column(cells: list[float | None], scale: Scale = Scale.NUMERIC) -> Column:
    null = np.array([cell is None for cell in cells])
    return Column("x", scale, np.array([cell or 0.0 for cell in cells]), null)


def measured(parts: list[list[float]], stats: ColumnStatistics) -> dict[str, float]:
    known = {loss.SquaredErrors(): loss.merge(parts)}
    found = taken((loss.Il(), loss.Sse(), loss.Sst()), known, [stats])
    return {m.measure: float(m.value or 0) for m in found if m.column is None}


def test_il_of_two_groups_by_hand() -> None:
    # 1, 3 -> 2 and 5, 11 -> 8: SSE = 1 + 1 + 9 + 9 = 20; SST around 5 = 16 + 4 + 0 + 36 = 56
    stats = ColumnStatistics("x", Scale.NUMERIC, 4, 0, mean=5.0, sd=float(np.sqrt(14.0)))
    parts = [
        loss.local((column([1, 3]),), (column([2, 2]),), [stats]),
        loss.local((column([5, 11]),), (column([8, 8]),), [stats]),
    ]
    found = measured(parts, stats)
    assert found["il"] == pytest.approx(100 * 20 / 56)
    assert found["sse"] == pytest.approx(20 / 14)
    assert found["sst"] == pytest.approx(4)


def test_nulls_cost_a_mark_and_the_way_to_the_mean() -> None:
    # values 0, 4 (mean 2, sd 2) and two nulls; the null becomes 4: ((4-2)/2)^2 + 2 = 3
    stats = ColumnStatistics("x", Scale.NUMERIC, 4, 2, mean=2.0, sd=2.0)
    part = loss.local((column([0, 4, None, None]),), (column([0, 4, 4, None]),), [stats])
    found = measured([part], stats)
    assert found["sse"] == pytest.approx(3.0)
    assert found["sst"] == pytest.approx(2 + 2 * 4 * 0.5 * 0.5)


def test_nominal_changes_are_counted_against_the_chance_that_two_differ() -> None:
    # a, a, b, b: two records differ with probability 1/2, so one change costs 1 / (1/4) = 4
    stats = ColumnStatistics("x", Scale.NOMINAL, 4, 0, pair_difference=0.5)
    x, z = column([0, 0, 1, 1], Scale.NOMINAL), column([0, 0, 0, 1], Scale.NOMINAL)
    found = measured([loss.local((x,), (z,), [stats])], stats)
    assert found["il"] == pytest.approx(100.0)


def test_a_constant_column_loses_nothing() -> None:
    stats = ColumnStatistics("x", Scale.NUMERIC, 2, 0, mean=3.0, sd=0.0)
    found = measured([loss.local((column([3, 3]),), (column([3, 3]),), [stats])], stats)
    assert found == {"il": 0.0, "sse": 0.0, "sst": 0.0}


def test_class_sizes_merge_every_cell_under_k() -> None:
    # 3 classes of 2, 1 of 4, 10 of 5, 2 of 300
    sizes = class_sizes(5, [(2, 3, 6), (4, 1, 4), (5, 10, 50), (300, 2, 600)])
    assert sizes.smallest == 2
    assert sizes.classes == 16
    assert sizes.records == 660
    assert sizes.below_k == 10
    first = sizes.buckets[0]
    assert (first.low, first.high, first.classes, first.records) == (1, 4, 4, 10)
    assert bucket_of(300, 5) == (160, 319)
    assert all(bucket_of(size, 7)[0] <= size <= bucket_of(size, 7)[1] for size in range(1, 5000))
