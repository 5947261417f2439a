"""The contract of an attack: what the adversary knows, wants, and how often a guess is right."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from sparkanon.measures import About, Given, Measure
from sparkanon.needs import Known, Need


@runtime_checkable
class Attack(Protocol):
    """Describes an adversary. Risk comes with an interval where it was sampled.

    `baseline` is what the best guess without the release gets right. `control` is the same
    attack on records that are not in the release; None where there are none to attack.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    knows: ClassVar[str]  # what the adversary has besides the release
    after: ClassVar[str]  # what the guess is about
    gives: ClassVar[tuple[About, ...]]  # the measures of it
    ordered: ClassVar[bool]

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        """What has to be searched or counted before the guesses can be judged."""
        ...

    def finish(self, given: Given, known: Known) -> list[Measure]:
        """How often the guess is right, beside baseline and control."""
        ...

    def baseline(self, given: Given, known: Known) -> float | None: ...

    def control(self, given: Given, known: Known) -> float | None: ...
