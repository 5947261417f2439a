"""Weighted centres by hand, and equal weights against no weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.numeric.records import Column, Floats, Scale
from sparkanon.releases import Grouped, NewValues
from sparkanon.releases.centroid import Centroid

ONE_GROUP = [0, 0, 0, 0]


def centre(
    scale: Scale,
    cells: list[float | None],
    weights: list[float] | Floats | None,
    labels: list[int] = ONE_GROUP,
) -> list[float | None]:
    null = np.array([cell is None for cell in cells])
    column = Column("x", scale, np.array([cell or 0.0 for cell in cells]), null)
    given_weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    rng = np.random.default_rng(0)
    groups = Grouped(np.array(labels, dtype=np.int32), rng, given_weights)
    (new,) = Centroid().publish((column,), groups)
    assert isinstance(new, NewValues)
    return [None if null else float(v) for v, null in zip(new.values, new.null, strict=True)]


def test_weighted_mean_median_and_mode_by_hand() -> None:
    # (1 * 10 + 2 * 20 + 0 * 1000 + 5 * 40) / 8 = 31.25
    assert centre(Scale.NUMERIC, [10, 20, 1000, 40], [1, 2, 0, 5]) == [31.25] * 4
    # sorted 1, 3, 5, 9 with weights 2, 1, 1, 3: half of 7 is reached at 1 + 3 + 5
    assert centre(Scale.ORDINAL, [9, 1, 5, 3], [3, 2, 1, 1]) == [5] * 4
    # weights 2, 2, 0, 0: exactly half is reached at the lowest value
    assert centre(Scale.ORDINAL, [9, 1, 5, 3], [2, 2, 0, 0]) == [1] * 4
    assert centre(Scale.NOMINAL, [7, 7, 2, 1], [1, 1, 3, 2]) == [2] * 4
    assert centre(Scale.NOMINAL, [7, 7, 2, 1], [0.1, 0.2, 0.3, 0.1]) == [2] * 4  # a tie in tenths


def test_nulls_are_weighed_too() -> None:
    assert centre(Scale.NUMERIC, [None, 10, 20, 30], [3, 1, 1, 1]) == [None] * 4
    assert centre(Scale.NUMERIC, [None, 10, 20, 30], [1, 0, 1, 1]) == [25] * 4
    assert centre(Scale.NOMINAL, [None, None, 4, 4], [1, 1, 2, 1]) == [4] * 4
    assert centre(Scale.ORDINAL, [None, None, 4, 8], [1, 0, 0, 0]) == [None] * 4


def test_no_centre_is_the_record_of_one_person() -> None:
    # the others have no weight: all count alike
    assert centre(Scale.NUMERIC, [10, 20, 60, 70], [7, 0, 0, 0]) == [40] * 4
    # 1000 of 1002 is cut to nine times the others: (18 * 10 + 20 + 60) / 20 = 13
    for heavy in (1000, 18):
        found = centre(Scale.NUMERIC, [10, 20, 60, 70], [heavy, 1, 1, 0])
        assert found == pytest.approx([13] * 4)
    # only one record, or only one with a weight, has a value
    assert centre(Scale.NOMINAL, [None, None, None, 4], [1, 1, 1, 4]) == [None] * 4
    assert centre(Scale.NUMERIC, [None, 5, 5, 6], [1, 0, 0, 4]) == [None] * 4


def test_a_group_without_weight_counts_its_records_alike() -> None:
    cells: list[float | None] = [1, 2, 6, 100, 200, 300]
    labels, weights = [0, 0, 0, 1, 1, 1], [0.0, 0, 0, 1, 0, 1]
    assert centre(Scale.NUMERIC, cells, weights, labels) == [3, 3, 3, 200, 200, 200]


def test_weights_may_be_of_any_size() -> None:
    for unit in (1e-300, 1e-9, 1e9, 1e305):
        found = centre(Scale.NUMERIC, [10, 20, 1000, 40], list(unit * np.array([1.0, 2, 0, 5])))
        assert found == pytest.approx([31.25] * 4)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.sampled_from(list(Scale)),
    st.floats(0, 0.9),
    st.integers(0, 10**6),
)
@settings(max_examples=150, deadline=None)
def test_equal_weights_are_no_weights_and_whole_ones_are_copies(
    sizes: list[int], scale: Scale, nulls: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    drawn = rng.integers(0, 4, len(labels)).astype(float)
    cells = [None if rng.random() < nulls else float(value) for value in drawn]
    plain = centre(scale, cells, None, list(labels))
    assert centre(scale, cells, np.full(len(labels), 0.1), list(labels)) == pytest.approx(plain)
    copies = rng.integers(1, 4, len(labels))
    many = [cell for cell, times in zip(cells, copies, strict=True) for _ in range(times)]
    of_copies = centre(scale, many, None, list(np.repeat(labels, copies)))
    first = np.cumsum(copies) - copies
    expected = [of_copies[at] for at in first]
    for group, size in enumerate(sizes):
        own = [i for i in range(len(labels)) if labels[i] == group]
        if size > 1 and sum(cells[i] is not None for i in own) < 2:
            for i in own:
                expected[i] = None
    assert centre(scale, cells, copies, list(labels)) == pytest.approx(expected)
