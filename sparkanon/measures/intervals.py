"""Interval disclosure: how often an original value lies close to the value published for it.

ROUND 3.3.2 (IDR) in the form of METHODS: the share of records ALL of whose original values lie
within the masked value +- p * sd, and a variant that measures closeness in ranks. (sdcMicro's
`dRisk` lets one column of each record lie outside; its numbers are higher.)

Chosen where the paper is silent, never to understate a risk: only ordered columns take part, so a
changed category does not count as protection; sd is the original's; a null published as a null is
within, a null on one side only is not. The sd is rounded to six digits, because its last ones vary
with the order in which Spark adds up, and a whole column may lie on the edge of its band; the band
is wider by as much as the rounding can take away.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.measures.base import About, Described, Measure
from sparkanon.measures.moments import names, ordered
from sparkanon.measures.needs import Given, PairTally
from sparkanon.measures.ranks import RankGrid, RankGrids
from sparkanon.measures.tally import Ints, Tally
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Bools, Column, Records
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.registry import spec

WIDTH = 0.05
WIDER = 1.0 + 1e-5  # more than six digits of the sd can be too few by
Width = Annotated[float, Field(gt=0, le=1, description="p of interval disclosure.")]


@dataclass(frozen=True)
class WithinCounts(Tally):
    """Records seen, and those within the interval: for each ordered column, and for all at once.

    Where closeness is only known within bounds, `surely` is less than `possibly`.
    """

    rows: int
    surely: Ints  # (d,)
    possibly: Ints  # (d,)
    all_surely: int
    all_possibly: int


@dataclass(frozen=True)
class WithinSd(PairTally[WithinCounts]):
    """Records within `width` standard deviations of the published value."""

    width: float

    def count(
        self, original: Records, released: Records, given: Given, known: Known
    ) -> WithinCounts:
        return local_sd(original, released, given.statistics, self.width)


@dataclass(frozen=True)
class WithinRanks(PairTally[WithinCounts]):
    """Records within `width` * n ranks of the published value."""

    width: float

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (RankGrids(),)

    def count(
        self, original: Records, released: Records, given: Given, known: Known
    ) -> WithinCounts:
        grids = known[RankGrids()]
        return local_rank(original, released, given.statistics, grids, self.width)


def local_sd(
    original: Records,
    published: Records,
    statistics: Sequence[ColumnStatistics],
    width: float = WIDTH,
) -> WithinCounts:
    """One block: original values within `width` * sd of the published ones; O(n d)."""
    within: list[Bools] = []
    for at in ordered(statistics):
        x, z = original[at], published[at]
        reach = width * statistics[at].steady_sd() * WIDER
        within.append(_unless_null(x, z, np.abs(x.values - z.values) <= reach))
    return _count(within, within)


def local_rank(
    original: Records,
    published: Records,
    statistics: Sequence[ColumnStatistics],
    grids: Sequence[RankGrid],
    width: float = WIDTH,
) -> WithinCounts:
    """One block: original values within `width` * n ranks of the published ones; O(n d log cuts).

    `grids` has one entry for each ordered column, n is the number of the column's values.
    """
    surely: list[Bools] = []
    possibly: list[Bools] = []
    for at, grid in zip(ordered(statistics), grids, strict=True):
        x, z = original[at], published[at]
        least, most = grid.distances(x.values, z.values)
        surely.append(_unless_null(x, z, most <= width * grid.n))
        possibly.append(_unless_null(x, z, least <= width * grid.n))
    return _count(surely, possibly)


def _unless_null(x: Column, z: Column, within: Bools) -> Bools:
    return np.where(x.null | z.null, x.null & z.null, within)


def _count(surely: Sequence[Bools], possibly: Sequence[Bools]) -> WithinCounts:
    if not surely:
        none = np.zeros(0, dtype=np.int64)
        return WithinCounts(0, none, none, 0, 0)
    return WithinCounts(
        rows=surely[0].size,
        surely=np.array([np.count_nonzero(each) for each in surely], dtype=np.int64),
        possibly=np.array([np.count_nonzero(each) for each in possibly], dtype=np.int64),
        all_surely=int(np.count_nonzero(np.all(surely, axis=0))),
        all_possibly=int(np.count_nonzero(np.all(possibly, axis=0))),
    )


def _share(measure: str, surely: int, possibly: int, rows: int, column: str | None) -> Measure:
    low, high = surely / max(rows, 1), possibly / max(rows, 1)
    if surely == possibly:
        return Measure(measure, high, column)
    return Measure(measure, high, column, low, high)


@spec
class OfWithin(Described):
    """Shares of the records that are within an interval, of all columns at once first."""

    ordered: ClassVar[bool] = True

    width: Width = WIDTH

    @abstractmethod
    def asks(self, given: Given) -> Need[WithinCounts]:
        """The one need."""

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (self.asks(given),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        counts, columns = known[self.asks(given)], names(given)
        if not columns:
            return []
        ends = zip(counts.surely.tolist(), counts.possibly.tolist(), columns, strict=True)
        return [
            _share(self.key, counts.all_surely, counts.all_possibly, counts.rows, None),
            *(_share(self.key, low, high, counts.rows, name) for low, high, name in ends),
        ]


@spec
class IntervalSd(OfWithin):
    """Share of records all of whose originals lie within the published value +- p sd."""

    about: ClassVar[About] = About(
        key="interval_sd",
        title="Interval disclosure (sd)",
        family="linkage",
        unit="share",
        better="lower",
        formula=("share of records with |x - z| <= p * sd in every column; p = 0.05 unless said"),
        source="Senavirathne, Torra 2019, section 3.3 (IDR)",
        meaning=(
            "The share of records all of whose original values lie in a narrow band around the "
            "published ones."
        ),
        conclude=(
            "High values say that published values are close to the true ones. That alone "
            "finds nobody, but who is found is then known well."
        ),
        outside="share of records",
    )

    def asks(self, given: Given) -> WithinSd:
        return WithinSd(self.width)


@spec
class IntervalRank(OfWithin):
    """The same in ranks of the original column.

    The value is the upper bound of the risk; `low` and `high` are None where it is exact.
    """

    about: ClassVar[About] = About(
        key="interval_rank",
        title="Interval disclosure (rank)",
        family="linkage",
        unit="share",
        better="lower",
        formula=(
            "share of records with |rank x - rank z| <= p * n in every column; an upper bound "
            "where ranks are counted at cuts"
        ),
        source="Senavirathne, Torra 2019, section 3.3 (IDR, by rank)",
        meaning=(
            "The same with a band counted in ranks: from the published value to the original it "
            "is at most a share p of all original values."
        ),
        conclude=(
            "Read it instead of the one by standard deviation where columns are skewed, such "
            "as income."
        ),
        outside="share of records",
    )

    def asks(self, given: Given) -> WithinRanks:
        return WithinRanks(self.width)
