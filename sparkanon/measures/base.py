"""The contract of a measure: what it says, what it has to know, and how its numbers are made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Floats

A = TypeVar("A")

Unit = Literal["percent", "share", "count", "number"]
Better = Literal["lower", "higher", "neither"]
Family = Literal["anonymity", "linkage", "attribute", "loss", "summary"]
# What of a value may go out with a release: a share of records is rounded up to whole groups of
# k, a number has three digits, a private one stays in the folder of runs.
Outside = Literal["share of records", "number", "private"]

FAMILIES: Mapping[Family, str] = {
    "anonymity": "Hiding in a crowd",
    "linkage": "Finding a person again",
    "attribute": "Learning a secret",
    "loss": "What was lost",
    "summary": "Risk and loss in one number",
}
RISKS: frozenset[Family] = frozenset({"anonymity", "linkage", "attribute"})


@dataclass(frozen=True)
class Measure:
    """One number. `column` is None for the whole table; `low`/`high` are None where exact."""

    measure: str
    value: float | None
    column: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Taken(Need[tuple[Measure, ...]]):
    """Another measure, with its interval; the table's value first."""

    measure: str


@dataclass(frozen=True, kw_only=True)
class About:
    """One measure in words, for gates, glossary, docs, report and sweeps."""

    key: str
    title: str
    family: Family
    unit: Unit
    better: Better
    formula: str
    source: str
    meaning: str  # for a reader who is no statistician
    conclude: str
    outside: Outside = "number"
    per_column: bool = False  # whether values of single columns may go out, too
    drawn: bool = True  # whether its values by column have a common scale, and so a chart
    by_k: bool = False  # whether it counts by k, which the policy must then say
    terms: tuple[str, ...] = ()  # measures that it adds up: who knows the others knows each

    @property
    def direction(self) -> str:
        if self.better == "neither":
            return "neither direction is better by itself"
        return f"{self.better} is better"

    @property
    def is_risk(self) -> bool:
        return self.family in RISKS

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates that can name it; one against its direction would let the bad pass."""
        sides = {"lower": ("max",), "higher": ("min",), "neither": ("min", "max")}
        return tuple(f"{side}_{self.key}" for side in sides[self.better])


@runtime_checkable
class MeasureSpec(Protocol):
    """Describes a measure. Its parameters are fields; `needs` are answered before `finish`.

    `ordered`: it says nothing about tables whose quasi-identifiers are all nominal.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    about: ClassVar[About]
    ordered: ClassVar[bool]

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        """What it has to know of a pair; other things where nobody knows which row was whose."""
        ...

    def finish(self, given: Given, known: Known) -> list[Measure]:
        """The table's value first, then those of columns; none where it is not defined."""
        ...


# Of one measure: the table's value, called None, first, then those of columns.
Values = Mapping[str | None, float | None]


class Described(MeasureSpec):
    """A measure spec that says everything about itself in `about`: its names are read there."""

    ordered: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "about" in vars(cls):  # a family of measures has none of its own
            cls.key, cls.title, cls.source = cls.about.key, cls.about.title, cls.about.source

    def measures(self, values: Values) -> list[Measure]:
        return [Measure(self.key, value, column) for column, value in values.items()]


class FromOne(Described, Generic[A]):
    """A measure that follows from one answer."""

    @abstractmethod
    def asks(self, given: Given) -> Need[A]:
        """The one need."""

    @abstractmethod
    def values(self, answer: A, given: Given) -> Values:
        """None at all where the measure is not defined."""

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (self.asks(given),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return self.measures(self.values(known[self.asks(given)], given))


def by_column(table: float, columns: Floats, names: Iterable[str]) -> Values:
    """The table's value, then the columns' by their names."""
    return {None: table, **dict(zip(names, np.asarray(columns).tolist(), strict=True))}
