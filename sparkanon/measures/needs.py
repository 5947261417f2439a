"""What measures have to know about a pair (original, release)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

from sparkanon.measures.anonymity import few
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Records
from sparkanon.numeric.statistics import ColumnStatistics

A = TypeVar("A")


@dataclass(frozen=True)
class Given:
    """What is known before anything is counted.

    `statistics` are those of the original's compared columns; `suppressed` is the share of
    records that are not released. `k` is None where nothing hides among k.
    """

    statistics: tuple[ColumnStatistics, ...]
    k: int | None
    paired: bool = True  # somebody knows which released row was whose
    suppressed: float = 0.0

    @property
    def few(self) -> int:
        """Counts of fewer records than this are not shown."""
        return few(self.k)

    @property
    def rows(self) -> int:
        return self.statistics[0].n


class OfPairs(Need[A]):
    """A need that can only be answered if it is known which released row was which record."""

    __slots__ = ()


class PairTally(OfPairs[A]):
    """Sums over records with both of their sides: pieces of a pair are counted and added."""

    __slots__ = ()

    @abstractmethod
    def count(self, original: Records, released: Records, given: Given, known: Known) -> A:
        """One piece; row i of both sides is the same record."""


class SideTally(Need[tuple[A, A]]):
    """Sums over each table alone; the answer is (of the original, of the release)."""

    __slots__ = ()

    @abstractmethod
    def count(self, side: Records, given: Given, known: Known) -> A:
        """One piece of one table."""
