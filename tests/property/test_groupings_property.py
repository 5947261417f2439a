"""Promises about groupings for any table Hypothesis can think of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparkanon.groupings import GROUPINGS, Grouping
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e12, 1e12, allow_nan=False, allow_infinity=False, width=64),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """Values (d, n) and k with n >= k."""
    k = draw(st.integers(2, 6))
    n = draw(st.integers(k, 60))
    d = draw(st.integers(1, 6))
    return draw(arrays(np.float64, (d, n), elements=NUMBERS)), k


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from(list(GROUPINGS)), st.booleans())
def test_every_table_is_partitioned(
    table: tuple[np.ndarray, int], kind: type[Grouping], capped: bool
) -> None:
    values, k = table
    d = len(values)
    points = Points.euclidean(values)
    if capped:
        codes = np.arange(d) % 2 == 1
        scaled = np.where(codes[:, None], np.abs(values).round() % 7, np.abs(np.sin(values)))
        points = Points(scaled, Metric.manhattan(np.ones(d), codes))
    sizes = np.bincount(kind().group(points, k, np.random.default_rng(0)))
    assert sizes.sum() == values.shape[1]
    assert k <= sizes.min()
    assert sizes.max() < 2 * k or not kind.bounded


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(list(GROUPINGS)), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_once_sorted_by_a_key(
    table: tuple[np.ndarray, int], kind: type[Grouping], random: object
) -> None:
    values, k = table
    n = values.shape[1]
    key = np.random.default_rng(n).permutation(n)  # the stable key of every row
    shuffled = np.arange(n)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def grouped(rows: np.ndarray) -> dict[int, int]:
        rows = rows[np.argsort(key[rows])]
        labels = kind().group(Points.euclidean(values[:, rows]), k, np.random.default_rng(0))
        return dict(zip(rows.tolist(), labels.tolist(), strict=True))

    assert grouped(np.arange(n)) == grouped(shuffled)
