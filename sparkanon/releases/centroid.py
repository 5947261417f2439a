"""Microaggregation: every record of a group gets the group's centre."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.records import Column, Floats, Labels, Records, Scale
from sparkanon.promises import Classes, Promise
from sparkanon.registry import spec
from sparkanon.releases.base import ByGroup, Cells, Grouped, NewValues, Published, mostly_null

# Sums of weights that differ by less than this differ by rounding only.
ROUNDING = 1e-9
# A record's weight is cut to this many times that of all others of its group: with more, the
# centre would reveal too much about it, as in the dominance rule for tables of magnitudes
# (Hundepool et al. 2012).
DOMINANT = 9.0


@spec
class Centroid(ByGroup):
    """Mean of numeric columns, lower median of ordinal ones, mode of nominal ones.

    Where at least half of a group is null in a column, its centre is null; otherwise the centre
    is that of the values present. Ties between categories go to the first in sorted order.

    With weights, every record counts by its own: weighted mean, lower median and mode, and null
    where nulls have at least half of the weight. So that no centre is one person's record, none
    has more than nine tenths of its group's weight, all count alike where the others have none,
    and the centre is null where only one record has a value.
    """

    key: ClassVar[str] = "centroid"
    title: ClassVar[str] = "the group's mean, median or mode for each of its records"
    source: ClassVar[str] = "SURVEY 2.2"
    done: ClassVar[str] = (
        "gave each record the centre of its group (the mean, median or most frequent value) in "
        "place of its own values"
    )
    cells: ClassVar[Cells] = Cells.MEANS

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        return Classes(columns=quasi, k=k)

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        labels, number = groups.labels, groups.number
        if groups.weights is None:
            return tuple(centre_of(column, labels, number) for column in records)
        shares = within(groups.weights, labels, number)
        return tuple(_weighted_centre_of(column, labels, number, shares) for column in records)


def centre_of(column: Column, labels: Labels, groups: int) -> NewValues:
    if not column.null.any():
        centre = _CENTRES[column.scale](column.values, labels, groups)
        return NewValues(centre[labels], column.null)
    present, is_null = ~column.null, mostly_null(column.null, labels, groups)
    centre = _CENTRES[column.scale](column.values[present], labels[present], groups)
    return NewValues(np.where(is_null, 0.0, centre)[labels], is_null[labels])


def _weighted_centre_of(column: Column, labels: Labels, groups: int, shares: Floats) -> NewValues:
    present = ~column.null
    values, of, heavy = column.values[present], labels[present], shares[present]
    total = np.bincount(labels, weights=shares, minlength=groups)
    filled = np.bincount(of, weights=heavy, minlength=groups)
    is_null = 2 * filled <= total * (1 + ROUNDING)
    sizes = np.bincount(labels, minlength=groups)
    is_null |= (np.bincount(of[heavy > 0], minlength=groups) < 2) & (sizes > 1)
    if not column.null.any():
        is_null[:] = False
    centre = _WEIGHTED[column.scale](values, of, groups, heavy)
    return NewValues(np.where(is_null, 0.0, centre)[labels], is_null[labels])


def within(weights: Floats, labels: Labels, groups: int) -> Floats:
    """Weights as shares of the largest of their group, which is cut where it dominates.

    1 for all where the others have none.
    """
    largest = np.zeros(groups)
    np.maximum.at(largest, labels, weights)
    of = largest[labels]
    shares = np.divide(weights, of, out=np.zeros(len(weights)), where=of > 0)
    others = np.bincount(labels, weights=shares, minlength=groups) - 1.0
    alone = others <= ROUNDING
    return np.where(alone[labels], 1.0, np.minimum(shares, DOMINANT * others[labels]))


def mean(values: Floats, labels: Labels, groups: int) -> Floats:
    """Group means, taken around each group's first value so that constants stay exact."""
    sizes = np.bincount(labels, minlength=groups)
    first = np.zeros(groups)
    first[labels[::-1]] = values[::-1]
    shifts = np.bincount(labels, weights=values - first[labels], minlength=groups)
    return np.asarray(first + shifts / np.maximum(sizes, 1))


def lower_median(values: Floats, labels: Labels, groups: int) -> Floats:
    """The value at position (size - 1) // 2 of each sorted group: always one that occurs."""
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels, minlength=groups)
    starts = np.cumsum(sizes) - sizes
    middle = np.minimum(starts + (np.maximum(sizes, 1) - 1) // 2, max(len(values) - 1, 0))
    return values[order][middle] if len(values) else np.zeros(groups)


def mode(values: Floats, labels: Labels, groups: int) -> Floats:
    """The most frequent value of each group, the lowest of them on a tie."""
    codes: npt.NDArray[np.int64] = values.astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    pairs, counts = np.unique(labels.astype(np.int64) * width + codes, return_counts=True)
    best = np.zeros(groups)
    # ascending by count and then by descending code, so the last write is the winner
    order = np.lexsort((-(pairs % width), counts))
    best[pairs[order] // width] = pairs[order] % width
    return best


_CENTRES: dict[Scale, Callable[[Floats, Labels, int], Floats]] = {
    Scale.NUMERIC: mean,
    Scale.ORDINAL: lower_median,
    Scale.NOMINAL: mode,
}


def weighted_mean(values: Floats, labels: Labels, groups: int, shares: Floats) -> Floats:
    """Weighted means, taken around each group's first value so that constants stay exact."""
    total = np.bincount(labels, weights=shares, minlength=groups)
    first = np.zeros(groups)
    first[labels[::-1]] = values[::-1]
    moves = np.bincount(labels, weights=shares * (values - first[labels]), minlength=groups)
    return first + np.divide(moves, total, out=np.zeros(groups), where=total > 0)


def weighted_lower_median(values: Floats, labels: Labels, groups: int, shares: Floats) -> Floats:
    """The lowest value that at least half of the group's weight does not exceed."""
    order = np.lexsort((values, labels))
    of = labels[order]
    total = np.bincount(labels, weights=shares, minlength=groups)
    up_to = np.cumsum(shares[order])
    before = np.concatenate([[0.0], up_to])[np.searchsorted(of, np.arange(groups))]
    reaches = 2 * (up_to - before[of]) >= total[of] * (1 - ROUNDING)
    reaches &= shares[order] > 0  # a record without weight is no middle
    middle = np.zeros(groups)
    at = np.flatnonzero(reaches)[::-1]
    middle[of[at]] = values[order][at]  # the last write is the lowest
    return middle


def weighted_mode(values: Floats, labels: Labels, groups: int, shares: Floats) -> Floats:
    """The value with the most weight in each group, the lowest of them on a tie."""
    codes: npt.NDArray[np.int64] = values.astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    pairs, at = np.unique(labels.astype(np.int64) * width + codes, return_inverse=True)
    heavy = np.bincount(at, weights=shares, minlength=len(pairs))
    most = np.zeros(groups)
    np.maximum.at(most, pairs // width, heavy)
    winners = pairs[heavy >= most[pairs // width] * (1 - ROUNDING)][::-1]
    best = np.zeros(groups)
    best[winners // width] = winners % width  # the last write is the lowest
    return best


_WEIGHTED: dict[Scale, Callable[[Floats, Labels, int, Floats], Floats]] = {
    Scale.NUMERIC: weighted_mean,
    Scale.ORDINAL: weighted_lower_median,
    Scale.NOMINAL: weighted_mode,
}
