"""What is counted in a pass over a pair, or over one of its sides: on the executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.pairs.sampling import Binning
from sparkanon.engine.pairs.tallies import records
from sparkanon.measures import Given, entropy, ranks
from sparkanon.measures.needs import PairTally, SideTally
from sparkanon.needs import Known
from sparkanon.numeric.records import Floats
from sparkanon.numeric.statistics import ColumnStatistics

Sums = tuple[PairTally[Any] | SideTally[Any], ...]


class Parts(dict[Any, Any]):
    """Tallies by name, added up name by name."""

    def __add__(self, other: Parts) -> Parts:
        return Parts({name: _added(part, other[name]) for name, part in self.items()})


def _added(one: Any, other: Any) -> Any:
    """The sum of two tallies, or of two pairs of them (original, release) side by side."""
    if isinstance(one, tuple):
        return tuple(a + b for a, b in zip(one, other, strict=True))
    return one + other


@dataclass(frozen=True)
class Bin:
    """How cells are counted in bins, the same on both sides; empty if nobody asks."""

    binnings: tuple[Binning, ...] = ()

    def count(self, cells: pa.Table, letter: str) -> entropy.BinCounts:
        codes = [
            b.codes(cells.column(f"{letter}{i}").combine_chunks())
            for i, b in enumerate(self.binnings)
        ]
        return entropy.local(codes, [b.bins for b in self.binnings])


@dataclass(frozen=True)
class Summing:
    """What is summed of one piece, by places, and how its bins are counted."""

    compared: tuple[Compared, ...]
    given: Given
    known: Known
    sums: Sums
    bins: Bin


@dataclass(frozen=True)
class BothSides(Summing):
    """Sums of one piece of a pair, and the bins of both sides."""

    def count(self, cells: pa.Table) -> Parts:
        found = Parts(bins=(self.bins.count(cells, "x"), self.bins.count(cells, "z")))
        if not self.sums:
            return found
        x, z = records(self.compared, (cells, "x"), (cells, "z"))
        for i, need in enumerate(self.sums):
            if isinstance(need, PairTally):
                found[i] = need.count(x, z, self.given, self.known)
            else:
                found[i] = tuple(need.count(side, self.given, self.known) for side in (x, z))
        return found


@dataclass(frozen=True)
class OneSide(Summing):
    """Counts the same for a piece of one table alone."""

    letter: str

    def count(self, cells: pa.Table) -> Parts:
        found = Parts(bins=self.bins.count(cells, self.letter))
        if not self.sums:
            return found
        (side,) = records(self.compared, (cells, self.letter))
        for i, need in enumerate(self.sums):
            if isinstance(need, SideTally):
                found[i] = need.count(side, self.given, self.known)
        return found


@dataclass(frozen=True)
class Cuts:
    """Counts how many originals lie below, on and between the cuts."""

    compared: tuple[Compared, ...]
    statistics: tuple[ColumnStatistics, ...]
    cuts: tuple[Floats, ...]

    def count(self, cells: pa.Table) -> ranks.CutCounts:
        (original,) = records(self.compared, (cells, "x"))
        return ranks.local(original, self.statistics, self.cuts)
