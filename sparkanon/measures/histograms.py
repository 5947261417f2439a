"""Shapes of columns before and after, for the report: bins in units of sd, never in values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparkanon.measures.moments import ordered, unit
from sparkanon.measures.needs import Given, PairTally
from sparkanon.measures.tally import Ints, Tally
from sparkanon.needs import Known
from sparkanon.numeric.records import Column, Records
from sparkanon.numeric.statistics import ColumnStatistics

REACH = 3.0  # sd on both sides of the mean; what lies beyond is in the outermost bins
BINS = 24
EDGES = np.linspace(-REACH, REACH, BINS + 1)


@dataclass(frozen=True)
class Histograms(Tally):
    """Counts (ordered columns, bins) of the original and of the release."""

    original: Ints
    released: Ints


@dataclass(frozen=True)
class Shapes(PairTally[Histograms]):
    """Histograms of both sides, for the report."""

    def count(
        self, original: Records, released: Records, given: Given, known: Known
    ) -> Histograms:
        return local(original, released, given.statistics)


def local(
    original: Records, published: Records, statistics: Sequence[ColumnStatistics]
) -> Histograms:
    """One block; nulls are in no bin."""
    rows = [(_counted(original[at], statistics[at]), _counted(published[at], statistics[at]))
            for at in ordered(statistics)]  # fmt: skip
    shape = (len(rows), BINS)
    return Histograms(
        np.array([x for x, _ in rows], np.int64).reshape(shape),
        np.array([z for _, z in rows], np.int64).reshape(shape),
    )


def _counted(column: Column, s: ColumnStatistics) -> Ints:
    scaled = (column.values[~column.null] - s.mean) / unit(s)
    place = np.floor((scaled + REACH) * (BINS / (2 * REACH)))
    return np.bincount(np.clip(place, 0, BINS - 1).astype(np.int64), minlength=BINS)


def finish(
    counts: Histograms, statistics: Sequence[ColumnStatistics], k: int
) -> list[dict[str, Any]]:
    """Shares for `report.json`; bins of 1 to k - 1 records look like empty ones."""
    return [
        {
            "column": statistics[column].name,
            "kind": "numeric",
            "unit": "standard deviations from the mean",
            "edges": EDGES.tolist(),
            "original": _shares(counts.original[at], k),
            "released": _shares(counts.released[at], k),
        }
        for at, column in enumerate(ordered(statistics))
    ]


def _shares(counts: Ints, k: int) -> list[float | None]:
    total = int(counts.sum())
    return [float(c) / total if c >= k else None for c in counts.tolist()]
