"""The contract of an attack: what the adversary knows, wants, and how often a guess is right."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from sparkanon.attacks.needs import Share
from sparkanon.measures import About, Given, Measure
from sparkanon.needs import Known, Need


@runtime_checkable
class Attack(Protocol):
    """Describes an adversary. Risk comes with an interval where it was sampled.

    Beside the risk stand two other measures, for it is alarming only as far as it exceeds them.
    `baseline`: what the best guess without the release gets right. `control`: the same attack on
    people who are not in the release; None if no guess about them can be right.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    knows: ClassVar[str]  # what the adversary has besides the release
    after: ClassVar[str]  # what the guess is about
    gives: ClassVar[tuple[About, ...]]  # how often the guess is right
    baseline: ClassVar[About]
    control: ClassVar[About | None] = None
    ordered: ClassVar[bool]

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        """What has to be searched or counted before the guesses can be judged."""
        ...

    def risks(self, given: Given, known: Known) -> list[Measure]:
        """How often the guess is right; nothing where that is not defined."""
        ...

    def without_release(self, given: Given, known: Known) -> float:
        """The value of `baseline`."""
        ...

    def on_outsiders(self, given: Given, known: Known) -> Share:
        """The value of `control`, if there is one."""
        raise NotImplementedError

    def finish(self, given: Given, known: Known) -> list[Measure]:
        """The risks, and beside them baseline and control."""
        found = self.risks(given, known)
        if found:
            guess = self.without_release(given, known)
            found = [*found, Measure(self.baseline.key, guess)]
        if found and self.control is not None:
            share = self.on_outsiders(given, known)
            found.append(Measure(self.control.key, share.value, None, share.low, share.high))
        return found
