"""How far a release moved the values and bent means, covariances and correlations.

All from `moments`. Sources: ROUND 3.3.1 (IL1s, ILMetrics), ROUND 4 (correlation), SURVEY 2.2
(SSB, SST, IL); the terms of ILMetrics are those of Domingo-Ferrer and Torra (2001), whom ROUND
cites; the eigenvalue difference is that of sdcMicro (`dUtility`, method "eigen").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sparkanon.measures.base import About, FromOne, Values, by_column
from sparkanon.measures.moments import (
    NEGLIGIBLE,
    FromMoments,
    Moments,
    PairedMoments,
    PairMoments,
    names,
    ordered,
    unit,
)
from sparkanon.measures.needs import Given
from sparkanon.numeric.records import Bools, Floats, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.registry import spec


def il_metrics(moments: PairMoments, statistics: Sequence[ColumnStatistics]) -> float:
    """100 * the average of five: mean variations of X, means, V, S = diag(V), and the error of R.

    A mean variation is the mean of |a - a'| / |a|: over cells for X, over columns for the means
    and S, over i <= j for V; the error of R is the mean of |r - r'| over i < j. Chosen where ROUND
    is silent: a term whose denominator is zero (under a billionth of the sd's it is made of) is
    left out of its mean, and a mean without any term is 0. As in the paper, values, means or
    covariances close to zero make this measure large: it suits columns that are not.
    """
    x, z = moments.original, moments.released
    named = [statistics[at] for at in ordered(statistics)]
    means = np.array([s.mean / unit(s) for s in named]) + x.means
    covariance, released = x.covariances(), z.covariances()
    half = np.triu(np.ones(covariance.shape, dtype=np.bool_))
    cells = int(moments.relative_cells.sum())
    parts = (
        float(moments.relative.sum()) / cells if cells else 0.0,
        _mean_variation(means, z.means - x.means),
        _mean_variation(covariance[half], (released - covariance)[half]),
        _mean_variation(np.diagonal(covariance), np.diagonal(released - covariance)),
        mean_off_diagonal(x.correlations() - z.correlations()),
    )
    return 100.0 * sum(parts) / len(parts)


def eigen_difference(original: Floats, released: Floats) -> float:
    """Sum of |e - e'| / e over the sorted eigenvalues of two correlation matrices.

    Eigenvalues of the original that are zero (constant or collinear columns) are left out.
    """
    if not original.size:
        return 0.0
    e, e_released = np.linalg.eigvalsh(original), np.linalg.eigvalsh(released)
    there = e > NEGLIGIBLE
    return float(np.sum(np.abs(e - e_released)[there] / e[there]))


def between(
    original: Moments, released: Moments, statistics: Sequence[ColumnStatistics]
) -> dict[str | None, float | None]:
    """Loss of numeric columns by the sum of squares between groups; the table's (None) first."""
    named = [statistics[at] for at in ordered(statistics)]
    numeric: Bools = np.array([s.scale is Scale.NUMERIC for s in named], np.bool_)
    if not numeric.any():
        return {}
    n, n_released = np.diagonal(original.count), np.diagonal(released.count)
    sst = n * np.diagonal(original.covariances())
    # Around its own mean, so that a release whose mean has moved does not look better.
    ssb = n_released * np.diagonal(released.covariances())
    sound = (n == n_released) & (ssb <= sst * (1 + NEGLIGIBLE) + NEGLIGIBLE)
    table = _loss(ssb[numeric].sum(), sst[numeric].sum()) if sound[numeric].all() else None
    return {None: table} | {
        s.name: _loss(ssb[at], sst[at]) if sound[at] else None
        for at, s in enumerate(named)
        if numeric[at]
    }


def _loss(ssb: float, sst: float) -> float:
    return max(0.0, 100.0 * (1.0 - float(ssb) / float(sst))) if sst > 0 else 0.0


def _mean_variation(of: Floats, difference: Floats) -> float:
    """Mean of |difference| / |of|, both in units of sd."""
    there = np.abs(of) > NEGLIGIBLE
    if not there.any():
        return 0.0
    return float(np.mean(np.abs(difference[there]) / np.abs(of[there])))


def mean_off_diagonal(matrix: Floats) -> float:
    above = np.abs(matrix[np.triu_indices(len(matrix), k=1)])
    return float(above.mean()) if above.size else 0.0


class OfCells(FromOne[PairMoments]):
    """A measure of what happened to each cell."""

    ordered: ClassVar[bool] = True

    def asks(self, given: Given) -> PairedMoments:
        return PairedMoments()


@spec
class Il1s(OfCells):
    """Sum over cells of |x - z| / (sqrt(2) s), s the population sd of the column."""

    about: ClassVar[About] = About(
        key="il1s",
        title="IL1s, sum",
        family="loss",
        unit="number",
        better="lower",
        formula="sum of |x - z| / (sqrt(2) * s)",
        source="Senavirathne, Torra 2019, section 3.3",
        meaning=("All distances between original and published values, in standard deviations."),
        conclude=(
            "It grows with the table, so compare it only between releases of the same table."
        ),
        outside="private",
    )

    def values(self, answer: PairMoments, given: Given) -> Values:
        sums = answer.absolute / math.sqrt(2.0)
        return by_column(float(sums.sum()), sums, names(given))


@spec
class Il1sMean(OfCells):
    """IL1s over the number of cells, as ROUND's formula has it (its tables print the sum)."""

    about: ClassVar[About] = About(
        key="il1s_mean",
        title="IL1s, mean per cell",
        family="loss",
        unit="number",
        better="lower",
        formula="IL1s / (rows * columns)",
        source="Senavirathne, Torra 2019, section 3.3",
        meaning=(
            "How far a published cell is from the original on average, in standard deviations "
            "(over the square root of 2)."
        ),
        conclude=(
            "0.1 means that a typical value moved by about a seventh of a standard deviation."
        ),
    )

    def values(self, answer: PairMoments, given: Given) -> Values:
        return _averaged(answer.absolute / math.sqrt(2.0), answer, given)


@spec
class Mse(OfCells):
    """Mean of (x - z)^2 on z-scores."""

    about: ClassVar[About] = About(
        key="mse",
        title="Mean squared error",
        family="loss",
        unit="number",
        better="lower",
        formula=("mean of (x - z)^2 on z-scores, over cells that have a value on both sides"),
        source="Senavirathne, Torra 2019, section 3.3",
        meaning=(
            "The average squared difference between an original and a published value, in "
            "squared standard deviations, so that columns can be averaged."
        ),
        conclude=(
            "Large single errors weigh most. In one column its square root is a typical error."
        ),
    )

    def values(self, answer: PairMoments, given: Given) -> Values:
        return _averaged(answer.squared, answer, given)


@spec
class IlMetrics(OfCells):
    """Mean variation of values, means, covariances, variances and correlations."""

    about: ClassVar[About] = About(
        key="il_metrics",
        title="Change of statistics",
        family="loss",
        unit="percent",
        better="lower",
        formula=(
            "100 * mean of the mean variations of X, means, V and S, and the mean error of R"
        ),
        source="Senavirathne, Torra 2019, section 3.3; Domingo-Ferrer, Torra 2001",
        meaning=(
            "How much values, means, covariances, variances and correlations changed, averaged."
        ),
        conclude="It asks what an analyst asks: would my summary tables be the same?",
    )

    def values(self, answer: PairMoments, given: Given) -> Values:
        return {None: il_metrics(answer, given.statistics)}


@spec
class EigenDifference(FromMoments):
    """Relative difference of the eigenvalues of both correlation matrices."""

    about: ClassVar[About] = About(
        key="eigen_difference",
        title="Difference of eigenvalues",
        family="loss",
        unit="number",
        better="lower",
        formula=(
            "sum of |e - e'| / e over the eigenvalues of the two correlation matrices; those "
            "of the original that are 0 are left out"
        ),
        source="Templ, Kowarik, Meindl 2015 (sdcMicro dUtility, eigen)",
        meaning="How much the main directions in which the data vary grew or shrank.",
        conclude=("Near 0, factor analyses and regressions on several columns will look alike."),
    )

    def values(self, original: Moments, released: Moments, given: Given) -> Values:
        return {None: eigen_difference(original.correlations(), released.correlations())}


@spec
class CorrelationError(FromMoments):
    """Mean absolute difference of the correlations of all pairs of ordered columns."""

    about: ClassVar[About] = About(
        key="correlation_error",
        title="Error of correlations",
        family="loss",
        unit="number",
        better="lower",
        formula="mean of |r original - r released| over the pairs of columns",
        source="Senavirathne, Torra 2019, section 3.3",
        meaning="By how much a correlation between two columns changed, on average.",
        conclude=(
            "Up to 0.05 is hard to see in a plot. Look at the map of differences for the pairs "
            "that changed most."
        ),
    )

    def values(self, original: Moments, released: Moments, given: Given) -> Values:
        error = np.abs(original.correlations() - released.correlations())
        np.fill_diagonal(error, 0.0)
        columns = error.sum(axis=1) / max(len(error) - 1, 1)
        return by_column(mean_off_diagonal(error), columns, names(given))


def _averaged(sums: Floats, moments: PairMoments, given: Given) -> Values:
    """Sums over the numbers of cells that have a value on both sides."""
    cells = moments.cells
    table = float(sums.sum()) / max(int(cells.sum()), 1)
    return by_column(table, sums / np.maximum(cells, 1), names(given))
