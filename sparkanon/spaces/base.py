"""The contract of a space: how far apart two records are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sparkanon.errors import Problem
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.numeric.statistics import ColumnStatistics

MOST_CLASSES = 100
SAMPLE_ROWS = 3_000  # about as many records does a guided space see


@dataclass(frozen=True)
class Classes:
    """What the classes of a space's `guide` say about the columns, and a sample of records.

    Values are z-scores: steady_sd steps from steady_mean, 0 for a null and in constant columns.

    Attributes
    ----------
    counts : (classes,) records of each class in the whole table
    means : (classes, d) mean of each class
    within : (d, d) covariance within the classes, that is around their own means
    sample, codes : some records in the order of their keys, and the class of each, 0, 1, ...
    k : size of the groups to come
    """

    counts: Floats
    means: Floats
    within: Floats
    sample: Records
    codes: npt.NDArray[np.int64]
    k: int


class FittedSpace(Protocol):
    """A small immutable model that is broadcast and turns records into coordinates."""

    @property
    def units(self) -> Mapping[str, float]:
        """For each column, how much of it counts as one step (0: the column does not count)."""
        ...

    @property
    def told(self) -> Mapping[str, float]:
        """What was found by fitting that the manifest may tell: no cell, no label."""
        ...

    def points(self, records: Records) -> Points:
        """Coordinates of the records of one block."""
        ...

    def ruler(self, name: str, scale: Scale) -> Ruler:
        """How two cells of one column are compared; codes of categories differ by 1 or more."""
        ...


@runtime_checkable
class Space(Protocol):
    """Describes a distance; `fit` turns it and the table's statistics into a model."""

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    scales: ClassVar[frozenset[Scale]]

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        """What in this spec does not fit the quasi-identifiers of the policy."""
        ...

    def guide(self) -> str | None:
        """The column whose classes `fit` needs to know; None: it needs none.

        It is named by the parameter `target`. A guided space serves grouping only: linkage
        looks for records by z-scores then.
        """
        ...

    def fit(
        self, statistics: Sequence[ColumnStatistics], classes: Classes | None = None
    ) -> FittedSpace:
        """Fit on the statistics of the whole table."""
        ...


def classes_problem(classes: int) -> str | None:
    """Why so many classes can not guide a space, or None."""
    if classes > MOST_CLASSES:
        return f"has more than {MOST_CLASSES} classes; choose a column with few values"
    if classes < 2:
        return f"has {'no class' if classes == 0 else 'one class'}; there is nothing to tell apart"
    return None


def weight_problems(weights: Mapping[str, float], quasi: Sequence[str]) -> list[Problem]:
    """Weights must name quasi-identifiers and leave at least one of them in play."""
    problems = [
        Problem(f"weights.{name}", "weights a column that is no quasi-identifier")
        for name in weights
        if name not in quasi
    ]
    if quasi and all(weights.get(name, 1.0) == 0 for name in quasi):
        problems.append(Problem("weights", "every quasi-identifier has weight 0"))
    return problems
