"""The contract of a space: how far apart two records are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from sparkanon.errors import Problem
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics


class FittedSpace(Protocol):
    """A small immutable model that is broadcast and turns records into coordinates."""

    @property
    def units(self) -> Mapping[str, float]:
        """For each column, how much of it counts as one step (0: the column does not count)."""
        ...

    def points(self, records: Records) -> Points:
        """Coordinates of the records of one block."""
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

    def fit(self, statistics: Sequence[ColumnStatistics]) -> FittedSpace:
        """Fit on the statistics of the whole table."""
        ...


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
