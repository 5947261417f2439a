"""What a method has to know about a table before it can begin, as values.

A space, release or measure names its needs; the engine (or `in_memory` for an array) answers all
needs of a run together, in as few passes as it can, and hands the answers over as `Known`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
S = TypeVar("S")


class Need(Generic[A_co]):
    """A question about the table, whose answer is an A. Frozen: equal needs are answered once."""

    __slots__ = ()

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        """The questions that have to be answered before this one can be asked."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose cells it reads beside the quasi-identifiers, which every need may read."""
        return ()


class Known:
    """Answers by their needs. Looking up what nobody asked for is a mistake in our own code."""

    def __init__(self, answers: Mapping[Need[Any], Any] | None = None) -> None:
        self._answers = dict(answers or {})

    def __getitem__(self, need: Need[A]) -> A:
        answer: A = self._answers[need]
        return answer

    def __contains__(self, need: Need[Any]) -> bool:
        return need in self._answers

    def __iter__(self) -> Iterator[Need[Any]]:
        return iter(self._answers)

    def only(self, needs: Iterable[Need[Any]]) -> Known:
        """The answers to these needs alone."""
        return Known({need: self._answers[need] for need in needs})

    def with_answers(self, answers: Mapping[Need[Any], Any]) -> Known:
        return Known(self._answers | dict(answers))


# Answers all needs of one kind at once, from a source and from what is known already.
Answering = Callable[[S, Sequence[Any], Known], Mapping[Any, Any]]


def answered(
    wanted: Iterable[Need[Any]],
    by_kind: Mapping[type[Need[Any]], Answering[S]],
    source: S,
) -> Known:
    """The answers to these needs and to those that they need; each kind once in a round."""
    known = Known()
    for ready in in_rounds(wanted, known):
        for kind in dict.fromkeys(map(type, ready)):
            alike = [need for need in ready if type(need) is kind]
            known = known.with_answers(by_kind[kind](source, alike, known))
    return known


def in_rounds(wanted: Iterable[Need[Any]], known: Known) -> Iterator[list[Need[Any]]]:
    """Needs whose own needs are answered, round after round; each need comes once."""
    todo = list(dict.fromkeys(_with_their_own(wanted)))
    done = [need for need in todo if need in known]
    while len(done) < len(todo):
        ready = [
            need for need in todo if need not in done and all(own in done for own in need.needs)
        ]
        if not ready:
            raise ValueError("needs that wait for one another")
        yield ready
        done += ready


def _with_their_own(wanted: Iterable[Need[Any]]) -> Iterator[Need[Any]]:
    for need in wanted:
        yield from _with_their_own(need.needs)
        yield need


@dataclass(frozen=True)
class Unanswerable:
    """In place of an answer: why nobody can give one."""

    reason: str
