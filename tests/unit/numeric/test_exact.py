"""Sums without rounding, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.numeric.class_sums import ClassSums, class_sums
from sparkanon.numeric.exact import exact_sums, rounded_root, surely_rounded
from sparkanon.numeric.records import Scale
from sparkanon.numeric.statistics import ColumnStatistics

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=1, max_size=40), st.integers(0, 40))
@settings(max_examples=200, deadline=None)
def test_sums_are_those_of_fractions(values: list[float], cut: int) -> None:
    whole = exact_sums(np.array(values))
    parts = exact_sums(np.array(values[:cut])) + exact_sums(np.array(values[cut:]))
    assert whole == parts
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    assert whole.mean == mean
    assert whole.variance == sum((x - mean) ** 2 for x in exact) / len(exact)


def test_roots_are_rounded_as_numbers_are_written() -> None:
    assert rounded_root(Fraction(2)) == 1.41421
    assert rounded_root(Fraction(1234565, 10**6) ** 2) == 1.23456  # exactly half: to even
    assert rounded_root(Fraction(1234575, 10**6) ** 2) == 1.23458
    assert rounded_root(Fraction(0)) == 0.0
    assert surely_rounded(1.234561, 1e-9)
    assert not surely_rounded(1.234565, 1e-9)


def column(mean: float, sd: float, n: int = 1000) -> ColumnStatistics:
    return ColumnStatistics("x", Scale.NUMERIC, n, 0, mean, sd, mean - sd, mean + sd)


def test_a_value_on_the_edge_asks_for_exact_sums() -> None:
    assert column(0.3, 1.234561).is_steady
    assert not column(0.3, 1.2345650000000001).is_steady
    assert not column(1.5e-6, 1.0).is_steady  # between two steps of the mean
    assert column(1.2e-6, 1.0).is_steady
    sums = exact_sums(np.array([0.0, 2.0, 2.0, 4.0]))
    found = column(2.0, 1.4142).made_steady(sums)
    assert found.steady_sd() == 1.41421
    assert found.steady_mean() == pytest.approx(2.0, abs=1e-6)
    assert found.is_steady


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high", "wrong"),
    [
        (0.0, np.inf, -1.7e308, 1.7e308, "far apart"),
        (0.0, np.nan, 0.0, 1.0, "far apart"),
        (0.0, 1.0, -1.7e308, 1.7e308, "far apart"),
        (0.0, 0.0, 0.0, 1e-320, "so little"),
        (0.0, 0.0, 5.0, 5.0, None),
        (0.0, 1.0, -1.0, 1.0, None),
    ],
)
def test_columns_without_a_distance(
    mean: float, sd: float, low: float, high: float, wrong: str | None
) -> None:
    found = ColumnStatistics("x", Scale.NUMERIC, 5, 0, mean, sd, low, high).problem
    assert found is None if wrong is None else wrong in str(found)


def test_moments_by_class_are_those_of_numpy_and_know_no_order(rng: np.random.Generator) -> None:
    keys, scores = rng.integers(0, 3, 500), rng.normal(size=(500, 4)) * [1, 5, 0.1, 100]
    whole = class_sums(keys, scores, 10)
    order = rng.permutation(500)
    parts = [class_sums(keys[part], scores[part], 10) for part in np.array_split(order, 7)]
    merged = sum(parts, ClassSums({}))
    for one, other in zip(whole.moments(), merged.moments(), strict=True):
        assert np.array_equal(one, other)
    counts, means, within = whole.moments()
    assert counts.tolist() == np.bincount(keys).tolist()
    expected = np.stack([scores[keys == c].mean(axis=0) for c in range(3)])
    assert means == pytest.approx(expected, abs=1e-6)
    apart = scores - expected[keys]
    assert within == pytest.approx(apart.T @ apart / 500, abs=1e-3)
    assert len(class_sums(np.arange(500), scores, 10).by_class) == 10
