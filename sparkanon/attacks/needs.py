"""What attacks have to know about a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparkanon.measures.needs import OfPairs


@dataclass(frozen=True)
class Share:
    """A share of right guesses; with ends where it was sampled."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def at_least(self, share: float) -> Share:
        ends = (self.value, self.low, self.high)
        return Share(*(None if end is None else max(end, share) for end in ends))


@dataclass(frozen=True)
class BothWays:
    """A share of right guesses from the release to the original, and the other way round."""

    to_original: float
    to_released: float


@dataclass(frozen=True)
class Links:
    """How often the nearest record is the own one.

    `tuples`: of each block of columns whose cells were moved as a unit, the share of records that
    its published tuples link.
    """

    to_original: Share | None = None
    to_released: Share | None = None
    tuples: Mapping[str, BothWays] = field(default_factory=dict)
    by_decile: Sequence[Mapping[str, Any]] = ()  # by how far out a record lies
    reason: str | None = None


@dataclass(frozen=True)
class Linked(OfPairs[Links]):
    """Linkage by distance in both directions; `targets` samples who is looked for."""

    targets: int | None = None
