"""Information loss of a pair (original, published), as local / merge / finish.

SSE, SST and IL = 100 * SSE / SST follow SURVEY 2.2, formulas (1) to (4), on z-scored columns. Two
cases the papers leave open are measured in the same unit: a null stands at the mean with a mark
sqrt(2) away, as in the Euclidean space; a nominal column is its indicator vector, scaled so that
its SST is n as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sparkanon.measures.base import Measure
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics


def local(
    original: Records, published: Records, statistics: Sequence[ColumnStatistics]
) -> list[float]:
    """One block's squared error for each column, in the column's own unit; O(n d)."""
    return [
        _squared_error(x, z, s) for x, z, s in zip(original, published, statistics, strict=True)
    ]


def merge(parts: Iterable[Sequence[float]]) -> Floats:
    """Add the blocks up; give them in a fixed order and the sum is the same to the last bit."""
    return np.asarray(np.sum(np.array(list(parts), dtype=np.float64), axis=0))


def finish(
    errors: Floats, statistics: Sequence[ColumnStatistics], suppressed: float = 0.0
) -> list[Measure]:
    """`sse`, `sst` and `il` for the table and for each column.

    `suppressed` is the share of records that are not released: each counts as if its cells were
    the column's mean, so that leaving records out cannot look like losing less.
    """
    measures: list[Measure] = []
    total_sse = total_sst = 0.0
    for error, s in zip(errors, statistics, strict=True):
        sst = _sst(s)
        sse = float(error) / _unit(s) + suppressed * sst if _unit(s) > 0 else 0.0
        total_sse += sse
        total_sst += sst
        measures += _three(sse, sst, s.name)
    return _three(total_sse, total_sst, None) + measures


def _three(sse: float, sst: float, column: str | None) -> list[Measure]:
    # A constant column has nothing to lose.
    il = 100.0 * sse / sst if sst > 0 else 0.0
    return [
        Measure("il", il, column),
        Measure("sse", sse, column),
        Measure("sst", sst, column),
    ]


def _squared_error(x: Column, z: Column, s: ColumnStatistics) -> float:
    if s.scale is Scale.NOMINAL:
        return float(np.count_nonzero((x.values != z.values) | (x.null != z.null)))
    centred = np.where(x.null, 0.0, x.values - s.mean) - np.where(z.null, 0.0, z.values - s.mean)
    marks = 2.0 * s.sd**2 * np.count_nonzero(x.null != z.null)
    return float(np.sum(centred * centred) + marks)


def _unit(s: ColumnStatistics) -> float:
    """The squared error that counts as one."""
    return s.pair_difference / 2 if s.scale is Scale.NOMINAL else s.sd**2


def _sst(s: ColumnStatistics) -> float:
    if _unit(s) <= 0:
        return 0.0
    if s.scale is Scale.NOMINAL:
        return float(s.n)
    share = s.nulls / s.n
    return (s.n - s.nulls) + 2.0 * s.n * share * (1.0 - share)
