"""How far a release moved the values and bent means, covariances and correlations.

Finishes `moments`. Sources: ROUND 3.3.1 (IL1s, ILMetrics), ROUND 4 (correlation), SURVEY 2.2
(SSB, SST, IL); the terms of ILMetrics are those of Domingo-Ferrer and Torra (2001), whom ROUND
cites; the eigenvalue difference is that of sdcMicro (`dUtility`, method "eigen").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sparkanon.measures.base import Measure
from sparkanon.measures.moments import NEGLIGIBLE, Moments, PairMoments, ordered, unit
from sparkanon.measures.tally import Ints
from sparkanon.numeric.records import Bools, Floats, Scale
from sparkanon.numeric.statistics import ColumnStatistics


def finish(moments: PairMoments, statistics: Sequence[ColumnStatistics]) -> list[Measure]:
    """Measures of a pair whose rows belong together; none if no column is ordered.

    `il1s`: sum of |x - z| / (sqrt(2) s_j); `il1s_mean`: the same over cells, as ROUND's formula
    has it (its tables print the sum). s_j is the population sd. `mse`: mean of (x - z)^2 on
    z-scores, so that columns can be averaged. Each for the table and for each column.
    `il_metrics` is for the table only.
    """
    named = [statistics[at] for at in ordered(statistics)]
    if not named:
        return []
    il1s = moments.absolute / math.sqrt(2.0)
    found = [
        *_summed("il1s", il1s, named),
        *_averaged("il1s_mean", il1s, moments.cells, named),
        *_averaged("mse", moments.squared, moments.cells, named),
        Measure("il_metrics", il_metrics(moments, statistics)),
    ]
    return found + _structure(moments.original, moments.released, named)


def marginal(
    original: Moments, released: Moments, statistics: Sequence[ColumnStatistics]
) -> list[Measure]:
    """What can be said when nobody knows which released row was which record.

    `eigen_difference`, `correlation_error` and, for numeric columns, `il` = 100 * (1 - SSB / SST).
    That is SURVEY 2.2 (3) and (4), and it holds if every released value is the mean of its group.
    It is None where that cannot be: more spread than the original, or another number of values.
    The table's `il` is over numeric columns (an ordinal column publishes medians), and None if
    one of them is.
    """
    named = [statistics[at] for at in ordered(statistics)]
    if not named:
        return []
    return _between(original, released, named) + _structure(original, released, named)


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
        _mean_off_diagonal(x.correlations() - z.correlations()),
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


def mean_absolute_correlation(correlations: Floats) -> float:
    """Mean of |r| over i < j: the one number that ROUND 4 (table 7) makes of a matrix."""
    return _mean_off_diagonal(correlations)


def _structure(
    original: Moments, released: Moments, named: Sequence[ColumnStatistics]
) -> list[Measure]:
    r, r_released = original.correlations(), released.correlations()
    error = np.abs(r - r_released)
    np.fill_diagonal(error, 0.0)
    others = max(len(named) - 1, 1)
    return [
        Measure("eigen_difference", eigen_difference(r, r_released)),
        Measure("correlation_error", _mean_off_diagonal(error)),
        *(
            Measure("correlation_error", float(error[at].sum()) / others, s.name)
            for at, s in enumerate(named)
        ),
    ]


def _between(
    original: Moments, released: Moments, named: Sequence[ColumnStatistics]
) -> list[Measure]:
    numeric: Bools = np.array([s.scale is Scale.NUMERIC for s in named])
    n, n_released = np.diagonal(original.count), np.diagonal(released.count)
    sst = n * np.diagonal(original.covariances())
    # Around its own mean: a release whose mean has moved must not look better for it.
    ssb = n_released * np.diagonal(released.covariances())
    sound = (n == n_released) & (ssb <= sst * (1 + NEGLIGIBLE) + NEGLIGIBLE)
    columns = [
        Measure("il", _loss(ssb[at], sst[at]) if sound[at] else None, s.name)
        for at, s in enumerate(named)
        if numeric[at]
    ]
    if not columns:
        return []
    table = _loss(ssb[numeric].sum(), sst[numeric].sum()) if sound[numeric].all() else None
    return [Measure("il", table), *columns]


def _loss(ssb: float, sst: float) -> float:
    return max(0.0, 100.0 * (1.0 - float(ssb) / float(sst))) if sst > 0 else 0.0


def _summed(measure: str, sums: Floats, named: Sequence[ColumnStatistics]) -> list[Measure]:
    columns = [Measure(measure, float(each), s.name) for each, s in zip(sums, named, strict=True)]
    return [Measure(measure, float(sums.sum())), *columns]


def _averaged(
    measure: str, sums: Floats, cells: Ints, named: Sequence[ColumnStatistics]
) -> list[Measure]:
    means = sums / np.maximum(cells, 1)
    columns = [Measure(measure, float(each), s.name) for each, s in zip(means, named, strict=True)]
    return [Measure(measure, float(sums.sum()) / max(int(cells.sum()), 1)), *columns]


def _mean_variation(of: Floats, difference: Floats) -> float:
    """Mean of |difference| / |of|, both in units of sd."""
    there = np.abs(of) > NEGLIGIBLE
    if not there.any():
        return 0.0
    return float(np.mean(np.abs(difference[there]) / np.abs(of[there])))


def _mean_off_diagonal(matrix: Floats) -> float:
    above = np.abs(matrix[np.triu_indices(len(matrix), k=1)])
    return float(above.mean()) if above.size else 0.0
