"""The contract of a measure: what it says, what it has to know, and how its numbers are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need

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
