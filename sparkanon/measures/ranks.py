"""Ranks in a column too long to sort in one place: exact counts at cuts, bounds in between.

Ranks are those of the original column, 1 .. n. Equal values share all the ranks they take up, and
a value that does not occur stands half-way between its neighbours. The distance of two values is
that of their nearest ranks: for values that occur once it is the difference of their ranks, and a
value just beside a frequent one is close to it, however frequent that one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparkanon.measures.moments import ordered
from sparkanon.measures.tally import Ints, Tally
from sparkanon.needs import Need
from sparkanon.numeric.records import Floats, Records
from sparkanon.numeric.statistics import ColumnStatistics


@dataclass(frozen=True)
class CutCounts(Tally):
    """How many values of the original lie under, on and between cuts, column after column."""

    counts: Ints


@dataclass(frozen=True)
class Ranks:
    """Bounds, (n,) each, of the first and the last rank that a value takes up."""

    first_low: Floats
    first_high: Floats
    last_low: Floats
    last_high: Floats


@dataclass(frozen=True)
class RankGrid:
    """Distinct sorted `cuts`; `below` / `upto` count values < and <= each cut; n counts all.

    If every distinct value is a cut, all ranks are exact.
    """

    cuts: Floats
    below: Ints
    upto: Ints
    n: int

    def bounds(self, values: Floats) -> Ranks:
        """Bounds of each value's ranks; O(n log cuts)."""
        at = np.searchsorted(self.cuts, values, side="left")
        on_cut = np.append(self.cuts, np.nan)[at] == values
        under = np.append(self.below, self.n)[at]
        upto = np.append(self.upto, self.n)[at]
        # Between two cuts a value has at least all up to the last cut under it.
        at_least = np.where(on_cut, under, np.insert(self.upto, 0, 0)[at])
        low, high = at_least + 0.5, under + 0.5
        occurs = on_cut & (upto > under)
        return Ranks(
            first_low=np.where(occurs, under + 1, low),
            first_high=np.where(occurs, under + 1, high),
            last_low=np.where(occurs, upto, low),
            last_high=np.where(occurs, upto, high),
        )

    def distances(self, one: Floats, other: Floats) -> tuple[Floats, Floats]:
        """(least, most) number of ranks from each value of `one` to that of `other`."""
        a, b = self.bounds(one), self.bounds(other)
        least = _largest(b.first_low - a.last_high, a.first_low - b.last_high)
        most = _largest(b.first_high - a.last_low, a.first_high - b.last_low)
        return least, np.where(one == other, 0.0, most)


@dataclass(frozen=True)
class RankGrids(Need[tuple[RankGrid, ...]]):
    """Ranks of the original, one grid for each ordered column."""


def local(
    original: Records, statistics: Sequence[ColumnStatistics], cuts: Sequence[Floats]
) -> CutCounts:
    """One block; `cuts` has an entry for each ordered column; O(n d log cuts)."""
    columns = [original[at] for at in ordered(statistics)]
    parts = [
        _counted(column.values[~column.null], at) for column, at in zip(columns, cuts, strict=True)
    ]
    return CutCounts(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def finish(counts: CutCounts, cuts: Sequence[Floats]) -> tuple[RankGrid, ...]:
    """A grid for each ordered column, from the counts of the whole table."""
    grids: list[RankGrid] = []
    start = 0
    for column in cuts:
        end = start + _places(column)
        grids.append(_grid(counts.counts[start:end], column))
        start = end
    return tuple(grids)


def cuts_of(sample: Floats, most: int) -> Floats:
    """At most `most` cuts from a sorted sample: every distinct value, or quantiles of them."""
    distinct = np.unique(sample)
    if distinct.size <= most:
        return distinct
    return np.unique(sample[np.linspace(0, sample.size - 1, most).astype(np.int64)])


def _places(cuts: Floats) -> int:
    return 2 * cuts.size + 1


def _counted(values: Floats, cuts: Floats) -> Ints:
    # Even places lie between cuts, odd ones are the cuts themselves.
    place = np.searchsorted(cuts, values, side="left") + np.searchsorted(
        cuts, values, side="right"
    )
    return np.bincount(place, minlength=_places(cuts))


def _grid(counts: Ints, cuts: Floats) -> RankGrid:
    total = np.cumsum(counts)
    return RankGrid(cuts, below=total[:-1:2], upto=total[1::2], n=int(total[-1]))


def _largest(one: Floats, other: Floats) -> Floats:
    return np.maximum(np.maximum(one, other), 0.0)
