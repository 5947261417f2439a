"""Information loss of a pair (original, published), as local / merge / finish.

SSE, SST and IL = 100 * SSE / SST follow SURVEY 2.2, formulas (1) to (4), on z-scored columns. Two
cases the papers leave open are measured in the same unit: a null stands at the mean with a mark
sqrt(2) away, as in the Euclidean space; a nominal column is its indicator vector, scaled so that
its SST is n as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparkanon.measures.base import About, FromOne, Measure, Values
from sparkanon.measures.distortion import between
from sparkanon.measures.moments import EachMoments
from sparkanon.measures.needs import Given, PairTally
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.registry import spec


@dataclass(frozen=True)
class SquaredErrors(PairTally[Floats]):
    """Squared error of each column; the blocks of our own releases report it while masked."""

    def count(self, original: Records, released: Records, given: Given, known: Known) -> Floats:
        return np.array(local(original, released, given.statistics))


@dataclass(frozen=True)
class GroupMeans(Need[bool]):
    """That every released value is taken for the mean of its group; refused where it is none."""


def local(
    original: Records, published: Records, statistics: Sequence[ColumnStatistics]
) -> list[float]:
    """The squared errors of a block for each column, in the column's own unit; O(n d)."""
    return [
        _squared_error(x, z, s) for x, z, s in zip(original, published, statistics, strict=True)
    ]


def merge(parts: Iterable[Sequence[float]]) -> Floats:
    """Add the blocks up. In a fixed order of blocks the sum is the same to the last bit."""
    return np.asarray(np.sum(np.array(list(parts), dtype=np.float64), axis=0))


@dataclass(frozen=True)
class Loss:
    """Squared error and total sum of squares of one column, or of the table, in z-scores."""

    sse: float
    sst: float

    @property
    def il(self) -> float:
        """In percent; a constant column has nothing to lose."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0


def finish(errors: Floats, given: Given) -> dict[str | None, Loss]:
    """The table (None) first, then each column.

    Each record that is not released counts as if its cells were the column's mean, so that
    leaving records out cannot look like losing less.
    """
    columns: dict[str | None, Loss] = {}
    for error, s in zip(errors, given.statistics, strict=True):
        sst, unit = _sst(s), _unit(s)
        sse = float(error) / unit + given.suppressed * sst if unit > 0 else 0.0
        columns[s.name] = Loss(sse, sst)
    total_sse = total_sst = 0.0
    for one in columns.values():
        total_sse += one.sse
        total_sst += one.sst
    return {None: Loss(total_sse, total_sst)} | columns


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


class OfErrors(FromOne[Floats]):
    """One of the numbers of `Loss`, which has the measure's name."""

    def asks(self, given: Given) -> SquaredErrors:
        return SquaredErrors()

    def values(self, answer: Floats, given: Given) -> Values:
        return {name: getattr(loss, self.key) for name, loss in finish(answer, given).items()}


@spec
class Il(OfErrors):
    """Share of the variance that is lost.

    Without a pairing it is 100 * (1 - SSB / SST) of numeric columns, SURVEY 2.2 (3) and (4), and
    holds if every released value is the mean of its group. It is None where that cannot be: more
    spread than the original, or another number of values. An ordinal column publishes medians, so
    the table's value is then over numeric columns.
    """

    about: ClassVar[About] = About(
        key="il",
        title="Information loss",
        family="loss",
        unit="percent",
        better="lower",
        formula=("100 * SSE / SST on z-scored columns; without a pairing 100 * (1 - SSB / SST)"),
        source="Chettri, Paul, Dutta 2012, section 2.2, formula 4",
        meaning=(
            "The share of the variance of the original that is gone: 0 % is a copy, 100 % is "
            "as if every value were replaced by its column's mean."
        ),
        conclude=(
            "Below about 10 % most analyses will hardly notice. Above 40 % trust totals and "
            "averages only. Permuted values can pass 100 %, because records are compared one "
            "by one."
        ),
        per_column=True,
    )

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return super().needs(given) if given.paired else (EachMoments(), GroupMeans())

    def finish(self, given: Given, known: Known) -> list[Measure]:
        if given.paired:
            return super().finish(given, known)
        return self.measures(between(*known[EachMoments()], given.statistics))


@spec
class Sse(OfErrors):
    """Sum of squared differences between original and published z-scores."""

    about: ClassVar[About] = About(
        key="sse",
        title="Sum of squared errors",
        family="loss",
        unit="number",
        better="lower",
        formula="sum of (x - z)^2 on z-scores",
        source="Chettri, Paul, Dutta 2012, section 2.2, formula 1",
        meaning=(
            "All squared differences between original and published values, in standard "
            "deviations."
        ),
        conclude=(
            "An intermediate result; read information loss instead, it does not grow with the "
            "table."
        ),
        outside="private",
        drawn=False,
    )


@spec
class Sst(OfErrors):
    """Sum of squared z-scores of the original."""

    about: ClassVar[About] = About(
        key="sst",
        title="Total sum of squares",
        family="loss",
        unit="number",
        better="neither",
        formula="sum of squared z-scores of the original",
        source="Chettri, Paul, Dutta 2012, section 2.2, formula 3",
        meaning=("How much the original varies in all: what could be lost at most by averaging."),
        conclude="An intermediate result, the 100 % of information loss.",
        outside="private",
        drawn=False,
    )
