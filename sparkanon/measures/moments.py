"""Means, covariances and distances of a pair (original, published) as sums that blocks can add.

Only ordered (numeric and ordinal) columns take part; d is their number. Every value is centred at
the original's mean and divided by the original's sd, so that sums of squares lose no digits. A
constant column is centred only (its unit is 1).

Nulls: a mean uses the column's non-null values, a covariance or a correlation the rows in which
both columns have a value (pairwise complete, as `use = "pairwise.complete.obs"` in R), a distance
the rows in which the cell is non-null on both sides. The loss by nulls is part of `il` in `loss`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparkanon.measures.base import Described, Measure, Values
from sparkanon.measures.needs import Given, PairTally, SideTally
from sparkanon.measures.tally import Ints, Tally
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Bools, Column, Floats, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics

# Below this share of its natural size a sum of squares is rounding error, not spread.
ROUNDING = 1e-12
# A denominator this small, in units of the sd, is taken for zero.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Moments(Tally):
    """Sums over one table. All arrays are (d, d); [i, j] is over rows where i and j have a value.

    `sums` and `squares` are those of column i, `products` those of i times j.
    """

    count: Ints
    sums: Floats
    squares: Floats
    products: Floats

    @property
    def means(self) -> Floats:
        """(d,) means in units of the original's sd from the original's mean; 0 without values."""
        return np.asarray(np.diagonal(_ratio(self.sums, self.count)))

    def covariances(self) -> Floats:
        """(d, d) population covariances; a constant column has exact zeros."""
        spread = self._variances()
        product = _ratio(self.products, self.count)
        mean = _ratio(self.sums, self.count)
        return np.where((spread > 0) & (spread.T > 0), product - mean * mean.T, 0.0)

    def correlations(self) -> Floats:
        """(d, d) correlations; those of a constant column, its own with itself too, are 0."""
        spread = self._variances()
        size = np.sqrt(spread * spread.T)
        found = np.clip(_ratio(self.covariances(), size), -1.0, 1.0)
        np.fill_diagonal(found, np.diagonal(spread) > 0)
        return found

    def _variances(self) -> Floats:
        """[i, j]: variance of column i over the rows where j has a value too."""
        square = _ratio(self.squares, self.count)
        variance = square - _ratio(self.sums, self.count) ** 2
        return np.where(variance > ROUNDING * square, variance, 0.0)


@dataclass(frozen=True)
class PairMoments(Tally):
    """Both tables' moments, and sums over cells that are non-null on both sides, (d,) each.

    `absolute` and `squared` are sums of |x - z| and (x - z)^2 in units of sd; `relative` sums
    |x - z| / |x| over the `relative_cells` whose x is not zero.
    """

    original: Moments
    released: Moments
    cells: Ints
    absolute: Floats
    squared: Floats
    relative: Floats
    relative_cells: Ints


@dataclass(frozen=True)
class EachMoments(SideTally[Moments]):
    """Moments of the original and of the release."""

    def count(self, side: Records, given: Given, known: Known) -> Moments:
        return moments_of(side, given.statistics)


@dataclass(frozen=True)
class PairedMoments(PairTally[PairMoments]):
    """Moments of both tables, and how far apart their cells are."""

    def count(
        self, original: Records, released: Records, given: Given, known: Known
    ) -> PairMoments:
        return local(original, released, given.statistics)


def of_both(given: Given, known: Known) -> tuple[Moments, Moments]:
    """Moments of the original and of the release, from whichever of the two was asked for."""
    if not given.paired:
        return known[EachMoments()]
    pair = known[PairedMoments()]
    return pair.original, pair.released


def needed(given: Given) -> tuple[Need[Any], ...]:
    """What `of_both` looks up."""
    return (PairedMoments(),) if given.paired else (EachMoments(),)


class FromMoments(Described):
    """A measure of the moments of both tables; it can be had without a pairing."""

    ordered: ClassVar[bool] = True

    @abstractmethod
    def values(self, original: Moments, released: Moments, given: Given) -> Values:
        """None at all where the measure is not defined."""

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return needed(given)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return self.measures(self.values(*of_both(given, known), given))


def ordered(statistics: Sequence[ColumnStatistics]) -> list[int]:
    """Positions of the numeric and ordinal columns."""
    return [at for at, s in enumerate(statistics) if s.scale is not Scale.NOMINAL]


def names(given: Given) -> list[str]:
    """Of the ordered columns."""
    return [given.statistics[at].name for at in ordered(given.statistics)]


def unit(statistics: ColumnStatistics) -> float:
    """What counts as one: the original's sd, or 1 for a constant column."""
    return statistics.sd if statistics.sd > 0 else 1.0


def local(
    original: Records, published: Records, statistics: Sequence[ColumnStatistics]
) -> PairMoments:
    """One block's sums; row i of both tables is the same record; O(n d^2)."""
    distances = [
        _distances(original[at], published[at], unit(statistics[at])) for at in ordered(statistics)
    ]
    cells, absolute, squared, relative, relative_cells = (
        np.array([distance[field] for distance in distances], dtype=np.float64)
        for field in range(5)
    )
    return PairMoments(
        original=moments_of(original, statistics),
        released=moments_of(published, statistics),
        cells=cells.astype(np.int64),
        absolute=absolute,
        squared=squared,
        relative=relative,
        relative_cells=relative_cells.astype(np.int64),
    )


def moments_of(records: Records, statistics: Sequence[ColumnStatistics]) -> Moments:
    """One block of one table. `statistics` are the original's, for the released table as well."""
    columns = [(records[at], statistics[at]) for at in ordered(statistics)]
    rows = columns[0][0].null.size if columns else 0
    values = np.empty((rows, len(columns)))
    present: Bools = np.empty((rows, len(columns)), dtype=np.bool_)
    for at, (column, s) in enumerate(columns):
        values[:, at] = np.where(column.null, 0.0, (column.values - s.mean) / unit(s))
        present[:, at] = ~column.null
    return _sums(values, present)


def _sums(values: Floats, present: Bools) -> Moments:
    products = values.T @ values
    if present.all():
        # The usual case: without nulls every pair of columns is summed over the same rows.
        return Moments(
            count=np.full(products.shape, len(values), dtype=np.int64),
            sums=_in_every_column(values.sum(axis=0)),
            squares=_in_every_column(np.diagonal(products)),
            products=products,
        )
    held = present.astype(np.float64)
    return Moments(
        count=np.rint(held.T @ held).astype(np.int64),
        sums=values.T @ held,
        squares=(values * values).T @ held,
        products=products,
    )


def _in_every_column(vector: Floats) -> Floats:
    return np.repeat(vector[:, np.newaxis], vector.size, axis=1)


def _distances(x: Column, z: Column, one: float) -> tuple[int, float, float, float, int]:
    """Cells compared, then sums of |x - z|, (x - z)^2 and |x - z| / |x|, and cells of the last."""
    both = ~(x.null | z.null)
    size = np.abs(x.values[both])
    distance = np.abs(x.values[both] - z.values[both])
    scaled = distance / one
    divisible = size > NEGLIGIBLE * one
    share = distance[divisible] / size[divisible]
    return (
        int(np.count_nonzero(both)),
        float(scaled.sum()),
        float(scaled @ scaled),
        float(share.sum()),
        int(np.count_nonzero(divisible)),
    )


def _ratio(part: Floats, whole: Floats | Ints) -> Floats:
    """`part / whole`, and 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
