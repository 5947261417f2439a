"""What a space can ask about a table, and how a piece of a table is counted for the answers.

The engine answers from Spark, `in_memory` from arrays; what they count is defined here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from sparkanon.errors import InputError, Problem
from sparkanon.needs import Need
from sparkanon.numeric.class_sums import ClassSums, class_sums
from sparkanon.numeric.records import Column, Floats, Records
from sparkanon.numeric.statistics import ColumnStatistics

MOST_CLASSES = 100
SAMPLE_ROWS = 3_000  # a sample with classes has about as many records
PIECE = 1 << 20  # records: the 64-bit integers behind the sums of many more could overflow

Longs = npt.NDArray[np.int64]

# The type of a parameter that names the column with the classes. An array in memory has no such
# column, so `sparkanon.group` fills these parameters in.
CLASS_COLUMN = "the column with the classes"
ClassColumn = Annotated[str, CLASS_COLUMN]


@dataclass(frozen=True)
class Moments(Need[tuple[ColumnStatistics, ...]]):
    """The statistics of every quasi-identifier, in the order of the records."""


@dataclass(frozen=True)
class GroupSize(Need[int]):
    """How many records a group is going to have at least: the k of the run."""


@dataclass(frozen=True)
class MomentsByClass:
    """What the classes of a column say about the quasi-identifiers, in z-scores.

    A z-score is 0 for a null and in a constant column.

    Attributes
    ----------
    counts : (classes,) records of each class in the whole table
    means : (classes, d) mean of each class
    within : (d, d) covariance within the classes, that is around their own means
    """

    counts: Floats
    means: Floats
    within: Floats


@dataclass(frozen=True)
class ClassMoments(Need[MomentsByClass]):
    """Moments by class of the column `target`; records whose target is null belong to no class.

    A space names the column by a parameter that is called `target`, too.
    """

    target: str

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Moments(),)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.target,)


@dataclass(frozen=True)
class SampleByClass:
    """Some records and the class of each: 0, 1, ..."""

    records: Records
    codes: Longs


@dataclass(frozen=True)
class ClassSample(Need[SampleByClass]):
    """About SAMPLE_ROWS of the records that have a class."""

    target: str

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (ClassMoments(self.target),)  # how many records have a class

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.target,)


def sums_by_class(
    classes: Longs, records: Records, statistics: Sequence[ColumnStatistics]
) -> ClassSums:
    """Exact sums of z-scores by class, of a piece of a table; pieces are added.

    Classes are any integers. When there are more than MOST_CLASSES, not all of them are summed.
    """
    total = ClassSums({})
    for start in range(0, len(classes), PIECE):
        rows = np.arange(start, min(start + PIECE, len(classes)))
        pairs = zip(records, statistics, strict=True)
        scores = [_z_scores(column.rows(rows), known) for column, known in pairs]
        total += class_sums(classes[rows], np.stack(scores, axis=1), MOST_CLASSES + 1)
    return total


def moments_by_class(sums: ClassSums, path: str) -> MomentsByClass:
    """Of the sums of a whole table; the classes are in the order of their numbers.

    An InputError at this path says why so many classes cannot guide a space.
    """
    problem = _classes_problem(len(sums.by_class))
    if problem is not None:
        raise InputError(Problem(path, problem))
    return MomentsByClass(*sums.moments())


def sample_by_class(records: Records, classes: Longs) -> SampleByClass:
    """Classes are any integers; their codes are in the order of these."""
    codes = np.unique(classes, return_inverse=True)[1]
    return SampleByClass(records, codes.astype(np.int64))


def _classes_problem(classes: int) -> str | None:
    if classes > MOST_CLASSES:
        return f"has more than {MOST_CLASSES} classes; choose a column with few values"
    if classes < 2:
        return f"has {'no class' if classes == 0 else 'one class'}; there are no two to separate"
    return None


def _z_scores(column: Column, known: ColumnStatistics) -> Floats:
    unit = known.steady_sd()
    if unit <= 0:
        return np.zeros(len(column.values))
    return np.where(column.null, 0.0, (column.values - known.steady_mean()) / unit)
