"""Interval disclosure: how often an original value lies close to the value published for it.

ROUND 3.3.2 (IDR) in the form of METHODS: the share of records ALL of whose original values lie
within the masked value +- p * sd, and a variant that measures closeness in ranks. (sdcMicro's
`dRisk` lets one column of each record lie outside; its numbers are higher.)

Chosen where the paper is silent, never to understate a risk: only ordered columns take part, so a
changed category does not count as protection; sd is the original's; a null published as a null is
within, a null on one side only is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparkanon.measures.base import Measure
from sparkanon.measures.moments import ordered
from sparkanon.measures.ranks import RankGrid
from sparkanon.measures.tally import Ints, Tally
from sparkanon.numeric.records import Bools, Column, Records
from sparkanon.numeric.statistics import ColumnStatistics

WIDTH = 0.05


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


def local_sd(
    original: Records,
    published: Records,
    statistics: Sequence[ColumnStatistics],
    width: float = WIDTH,
) -> WithinCounts:
    """One block: original values within `width` * sd of the published ones; O(n d)."""
    within = [
        _unless_null(
            original[at],
            published[at],
            np.abs(original[at].values - published[at].values) <= width * statistics[at].sd,
        )
        for at in ordered(statistics)
    ]
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


def finish_sd(counts: WithinCounts, statistics: Sequence[ColumnStatistics]) -> list[Measure]:
    """`interval_sd` for the table and for each ordered column."""
    return _shares("interval_sd", counts, statistics)


def finish_rank(counts: WithinCounts, statistics: Sequence[ColumnStatistics]) -> list[Measure]:
    """`interval_rank` for the table and for each ordered column.

    The value is the upper bound of the risk; `low` and `high` are None where it is exact.
    """
    return _shares("interval_rank", counts, statistics)


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


def _shares(
    measure: str, counts: WithinCounts, statistics: Sequence[ColumnStatistics]
) -> list[Measure]:
    names = [statistics[at].name for at in ordered(statistics)]
    if not names:
        return []
    columns = zip(counts.surely.tolist(), counts.possibly.tolist(), names, strict=True)
    return [
        _share(measure, counts.all_surely, counts.all_possibly, counts.rows, None),
        *(_share(measure, low, high, counts.rows, name) for low, high, name in columns),
    ]


def _share(measure: str, surely: int, possibly: int, rows: int, column: str | None) -> Measure:
    low, high = surely / max(rows, 1), possibly / max(rows, 1)
    if surely == possibly:
        return Measure(measure, high, column)
    return Measure(measure, high, column, low, high)
