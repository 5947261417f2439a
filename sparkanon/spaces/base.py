"""The contract of a space: how far apart two records are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Protocol, get_type_hints, runtime_checkable

from pydantic import Field

from sparkanon.errors import Problem
from sparkanon.needs import Known, Need
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.registry import spec
from sparkanon.spaces.needs import CLASS_COLUMN, Moments


class FittedSpace(Protocol):
    """A small immutable value that is broadcast, can be saved, and turns records into points."""

    @property
    def units(self) -> Mapping[str, float]:
        """For each column, how much of it counts as one step (0: the column does not count)."""
        ...

    @property
    def summary(self) -> Mapping[str, float]:
        """What fitting found and the manifest may hold: no cell, no label."""
        ...

    def points(self, records: Records) -> Points:
        """Coordinates of the records of one block."""
        ...

    def ruler(self, name: str, scale: Scale) -> Ruler:
        """How two cells of one column are compared; codes of categories differ by 1 or more."""
        ...


@runtime_checkable
class Space(Protocol):
    """Describes a distance; `fit` turns it and what is known about the table into a model."""

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    scales: ClassVar[frozenset[Scale]]

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        """What in this spec does not fit the quasi-identifiers of the policy."""
        ...

    def needs(self) -> tuple[Need[Any], ...]:
        """What `fit` has to know about the table."""
        ...

    def fit(self, known: Known) -> FittedSpace:
        """Fit on the answers to `needs`."""
        ...


def serves_any_pair(space: Space) -> bool:
    """Whether the statistics of the columns are all that it has to know.

    Such a space can compare any two tables with these columns, as an audit does; the others
    serve the grouping of their own table only.
    """
    return set(space.needs()) <= {Moments()}


def class_parameters(kind: type[Space]) -> tuple[str, ...]:
    """The parameters that name the column with the classes."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        name for name, hint in hints.items() if CLASS_COLUMN in getattr(hint, "__metadata__", ())
    )


@spec
class Weighted:
    """What spaces share that weigh columns and have to know nothing but their statistics."""

    weights: dict[str, Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="How much a column counts; 1 where it is not named."
    )

    def weight(self, name: str) -> float:
        return self.weights.get(name, 1.0)

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        """Weights must name quasi-identifiers and leave at least one of them in play."""
        problems = [
            Problem(f"weights.{name}", "weights a column that is no quasi-identifier")
            for name in self.weights
            if name not in quasi
        ]
        if quasi and all(self.weight(name) == 0 for name in quasi):
            problems.append(Problem("weights", "every quasi-identifier has weight 0"))
        return problems

    def needs(self) -> tuple[Need[Any], ...]:
        return (Moments(),)
