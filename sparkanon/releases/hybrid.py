"""Hybrid microdata: synthetic records in place of the group's own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sparkanon.errors import Problem, counted
from sparkanon.numeric.members import members
from sparkanon.numeric.records import Column, Labels, Records, Scale, prints
from sparkanon.numeric.release.synthetic import LEAST, synthetic
from sparkanon.promises import MadeFrom, Promise
from sparkanon.registry import spec
from sparkanon.releases.base import (
    Asked,
    ByGroup,
    Cells,
    Grouped,
    NewValues,
    Published,
    mostly_null,
)
from sparkanon.releases.centroid import centre_of
from sparkanon.releases.permute import permutation_within

LEAST_K = LEAST
TRIES = 32  # draws of a group before it gets its centroid

_Rows = npt.NDArray[np.int64]


@spec
class Hybrid(ByGroup):
    """Random records with the mean and the covariance of each group, as many as it has.

    The survey leaves the generator open; here the deviations of a group are turned by a random
    rotation that leaves the mean alone, which keeps mean and covariance to rounding. A group of
    m records with m <= d columns spans fewer than d dimensions, and turning it gives little that
    is new: there the deviations are also shrunk, its covariance to (m - 1) / d of what it was.

    The pattern of nulls of a record goes to another record of its group, whole; mean and
    variance of a column are over its values, covariances with a column that has nulls are near.
    Where at least half of a group is null in a column all of it is, as in `centroid`, and where
    it has nulls and fewer than four values these become their mean: otherwise they would be
    published, or nearly.

    No record of a group is published as it was. What is drawn is rounded to what the columns can
    hold, integers and days among them, and where one of the rounded records then equals an
    original of its group, all of the group is drawn again, up to 32 times. A group that still
    shows one, because its columns hold hardly any other values, gets its centroid, which all of
    its records share; that may equal one of them, as in any `centroid` release. Records of nulls
    only, and groups whose records are all equal, hold nothing that could be given back.

    A group drawn again follows the distribution of the first draw without those draws that were
    refused. So whoever knows who is in a group learns that no published record of it is one of
    theirs, which this text says anyway, and nothing about which of the allowed draws it was.
    Mean and covariance are kept before rounding; a centroid keeps the mean alone.

    The deviations of two records span one dimension, which can only be mirrored: both records
    would come out again, to the digit or shrunk by a factor that everybody knows. Those of three
    turn in a plane, and for 1.3 % of originals one comes within a hundredth of the group's radius
    of where it was; of four, for less than 0.1 %. So k is at least 4, whatever the number of
    columns. Of a single column it is 2.5 % for any k: that is how close values on one line are.
    """

    key: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "synthetic records with the group's mean and covariance (numeric)"
    source: ClassVar[str] = "SURVEY 3.2"
    done: ClassVar[str] = (
        "put invented records in their place that keep each group's means and covariances"
    )
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC})
    cells: ClassVar[Cells] = Cells.COMPUTED

    def problems(self, asked: Asked) -> list[Problem]:
        if asked.k is None or asked.k >= LEAST_K:
            return []
        columns = counted(len(asked.quasi), "column")
        text = (
            f"with k = {asked.k} and {columns} the original records would come out again, or "
            f"nearly; hybrid needs a k of at least {LEAST_K} for any number of columns"
        )
        return [Problem("name", text)]

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        return MadeFrom(columns=quasi, k=k)

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        labels, rng = groups.labels, groups.rng
        made = _drawn(records, labels, rng)
        again = _given_back(records, made, labels)
        for left in reversed(range(TRIES)):
            if not len(again):
                break
            some = tuple(column.rows(again) for column in records)
            group = np.unique(labels[again], return_inverse=True)[1].astype(np.int32)
            new = _drawn(some, group, rng) if left else _centres(some, group)
            for column, other in zip(made, new, strict=True):
                column.values[again], column.null[again] = other.values, other.null
            again = again[_given_back(some, new, group)]
        return tuple(NewValues(column.values, column.null) for column in made)


def _drawn(records: Records, labels: Labels, rng: np.random.Generator) -> Records:
    values = np.stack([column.values for column in records])
    null = np.stack([column.null for column in records])
    hidden = null
    if null.any():
        hidden = np.ascontiguousarray(null[:, permutation_within(labels, rng)])
        groups = int(labels.max()) + 1
        hidden |= np.stack([mostly_null(column, labels, groups)[labels] for column in null])
    starts, order = members(labels)
    made = synthetic(values, null, hidden, order, starts, rng.standard_normal(values.shape))
    new = zip(records, made, hidden, strict=True)
    return tuple(column.with_values(row, mask) for column, row, mask in new)


def _centres(records: Records, labels: Labels) -> Records:
    groups = int(labels.max()) + 1
    found = (centre_of(column, labels, groups) for column in records)
    new = zip(records, found, strict=True)
    return tuple(column.with_values(centre.values, centre.null) for column, centre in new)


def _given_back(records: Records, made: Records, labels: Labels) -> _Rows:
    """The rows of all groups that would publish one of their own records.

    By hashes of the rounded records: two that only look alike cost another draw, no more.
    """
    start = labels.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    own, shown = (prints(tuple(map(_rounded, side)), start) for side in (records, made))
    groups = int(labels.max()) + 1
    one = np.zeros(groups, np.uint64)
    one[labels] = own
    empty = np.all([column.null for column in made], axis=0)
    back, differ = (
        np.bincount(labels, which, groups) > 0
        for which in (np.isin(shown, own) & ~empty, own != one[labels])
    )
    return np.flatnonzero((back & differ)[labels])


def _rounded(column: Column) -> Column:
    return column.with_values(column.grid.nearest(column.values), column.null)
