"""Shapes of columns: shares in bins of sd units, small ones withheld."""

from __future__ import annotations

import numpy as np

from sparkanon.measures import histograms
from sparkanon.numeric.records import Column, Scale
from sparkanon.numeric.statistics import ColumnStatistics


def test_bins_are_quarters_of_a_standard_deviation_and_small_ones_are_not_reported() -> None:
    # mean 10, sd 2: 10 is in the bin that starts at the middle, 13 in the one six bins further
    values = np.array([10.0] * 6 + [13.0] * 3 + [1e6, 7.0, 7.0])
    null = np.zeros(12, dtype=np.bool_)
    null[-1] = True
    column = Column("a", Scale.NUMERIC, values, null)
    known = (ColumnStatistics("a", Scale.NUMERIC, n=12, nulls=1, mean=10.0, sd=2.0),)
    counts = histograms.local((column,), (column,), known)
    assert counts.original[0, 12] == 6
    assert counts.original[0, 18] == 3
    assert counts.original[0, 23] == 1, "what lies beyond three sd is in the last bin"
    assert counts.original[0, 6] == 1, "the null is in no bin"
    assert counts.original.sum() == 11
    (reported,) = histograms.finish(counts + counts, known, k=5)
    assert reported["original"][12] == 12 / 22
    assert reported["original"][18] == 6 / 22
    assert reported["original"][23] is None, "two records are fewer than five"
    assert len(reported["edges"]) == len(reported["original"]) + 1


def test_nominal_columns_have_no_shape() -> None:
    column = Column("a", Scale.NOMINAL, np.zeros(3), np.zeros(3, dtype=np.bool_))
    known = (ColumnStatistics("a", Scale.NOMINAL, n=3, nulls=0),)
    counts = histograms.local((column,), (column,), known)
    assert histograms.finish(counts, known, k=2) == []
