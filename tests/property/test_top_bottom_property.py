"""Quantiles by counting, and what coding to them does, for any column Hypothesis can think of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from sparkanon.engine.fit import quantiles as counting
from sparkanon.engine.fit.quantiles import Counting, bits_of, quantiles, value_of
from sparkanon.engine.table.columns import Quasi
from sparkanon.needs import Known
from sparkanon.numeric.records import Column, Scale
from sparkanon.policy import ColumnType
from sparkanon.releases import Grouped, Replaced
from sparkanon.releases.needs import Quantiles
from sparkanon.releases.top_bottom import TopBottom

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**53, 2.0**53 - 1]),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)
COLUMNS = st.lists(NUMBERS, min_size=1, max_size=80)
SHARES = st.sampled_from([0.01, 0.05, 0.07, 0.1, 0.25, 1 / 3, 0.49])
QUASI = tuple(Quasi(name, ColumnType.NUMERIC, T.DoubleType()) for name in "ab")


@dataclass(frozen=True)
class Parts:
    """A table in partitions; it is asked for its numbers only."""

    parts: Sequence[pa.Table]

    def selectExpr(self, *_: str) -> Parts:
        return self


@pytest.fixture(scope="module", autouse=True)
def without_spark() -> Any:
    def tally(table: Parts, work: Counting) -> Any:
        return reduce(add, (work.count(part) for part in table.parts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "tally", tally)
        yield


def in_parts(columns: Sequence[Sequence[float]], cuts: Sequence[int]) -> Parts:
    n = max(map(len, columns))
    cells = {f"q{i}": [*c, *[None] * (n - len(c))] for i, c in enumerate(columns)}
    table = pa.table({name: pa.array(values, pa.float64()) for name, values in cells.items()})
    ends = [0, *sorted(cut % (n + 1) for cut in cuts), n]
    return Parts([table.slice(a, b - a) for a, b in pairwise(ends)])


def by_sorting(values: Sequence[float], share: float) -> tuple[float, float]:
    ordered, m = sorted(values), ceil(Fraction(str(share)) * len(values))
    return ordered[m - 1], ordered[-m]


@settings(max_examples=150, deadline=None)
@given(COLUMNS, COLUMNS, SHARES, SHARES, st.lists(st.integers(0, 100), max_size=4))
def test_quantiles_are_those_of_the_sorted_column(
    a: list[float], b: list[float], share: float, other: float, cuts: list[int]
) -> None:
    needs = [Quantiles(share), Quantiles(other)]
    rows: Any = in_parts([a, b], cuts)
    found = quantiles(rows, QUASI, needs)
    for need in needs:
        assert found[need] == {"a": by_sorting(a, need.share), "b": by_sorting(b, need.share)}


@given(st.lists(NUMBERS, min_size=2, max_size=20))
def test_doubles_are_in_the_order_of_their_bits(values: list[float]) -> None:
    bits = bits_of(np.array(values))
    assert (value_of(bits) == np.array(values)).all()
    assert (np.argsort(bits, kind="stable") == np.argsort(np.array(values), kind="stable")).all()


def test_a_share_is_taken_as_it_is_written() -> None:
    """0.07 of 100 is 7; as doubles the product is a little more, and would be rounded up to 8."""
    rows: Any = in_parts([[float(i) for i in range(1, 101)]] * 2, [])
    assert quantiles(rows, QUASI, [Quantiles(0.07)])[Quantiles(0.07)]["a"] == (7.0, 94.0)


@settings(max_examples=150, deadline=None)
@given(COLUMNS, SHARES)
def test_enough_values_carry_a_limit_others_stay(values: list[float], share: float) -> None:
    need, n = Quantiles(share), len(values)
    low, high = by_sorting(values, share)
    column = Column("a", Scale.NUMERIC, np.array(values), np.zeros(n, np.bool_))
    release = TopBottom(share=share).fit(Known({need: {"a": (low, high)}}))
    labels = np.arange(n, dtype=np.int32)
    (new,) = release.publish((column,), Grouped(labels, np.random.default_rng(0)))
    assert isinstance(new, Replaced)
    coded = np.where(new.where, new.values, column.values)
    assert (coded == low).sum() >= share * n
    assert (coded == high).sum() >= share * n
    assert ((coded == column.values) | (coded == low) | (coded == high)).all()
    assert (column.values < low).sum() < max(share * n, 1)
    assert (column.values > high).sum() < max(share * n, 1)
    order = np.argsort(column.values, kind="stable")
    assert (np.diff(coded[order]) >= 0).all() or not np.isfinite(np.diff(coded[order])).all()
