"""Exact quantiles of whole columns, by counting: nothing is sorted and no value is collected.

The bits of doubles, read as integers, are in the order of the doubles. So a range of values is cut
into 256 pieces of equal width in bits, whatever the distribution. A pass counts the values in each
piece, and the next one cuts the piece with the wanted rank, until a piece holds one value. Each
pass leaves at most 1/256 of a range, so eight are enough for any column, and integers take two or
three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame

from sparkanon.engine.count.passes import tally
from sparkanon.engine.table.columns import Quasi
from sparkanon.errors import InputError, Problem
from sparkanon.needs import Need
from sparkanon.numeric.records import Floats, Scale
from sparkanon.releases.needs import Limits, NumberOf, Quantiles

PIECES = 256
Bits = npt.NDArray[np.uint64]
_TOP = np.uint64(1 << 63)
_LAST = 2**64 - 1


def quantiles(
    rows: DataFrame, quasi: Sequence[Quasi], needs: Sequence[Quantiles]
) -> Mapping[Need[Any], Limits]:
    """The low and high quantiles of ordered columns, in a few passes for all of them together."""
    ordered = [q for q in quasi if q.scale is not Scale.NOMINAL]
    numbers = rows.selectExpr(*(f"{q.number} as q{i}" for i, q in enumerate(ordered)))
    whole = {i: Range(i, 0, _LAST) for i in range(len(ordered))}
    counted = _counts(numbers, list(whole.values()))
    wanted = {
        (need, i, at): Search(counted[whole[i]].rank_of(need.share, at), whole[i])
        for need in needs
        for i in whole
        for at in (0, 1)
    }
    while True:
        wanted = {place: search.narrowed(counted) for place, search in wanted.items()}
        open_ = {search.within for search in wanted.values() if not search.found}
        if not open_:
            break
        counted = _counts(numbers, sorted(open_, key=lambda one: (one.column, one.low)))
    return {
        need: {
            q.name: (wanted[need, i, 0].value, wanted[need, i, 1].value)
            for i, q in enumerate(ordered)
        }
        for need in needs
    }


def numbers_of(quasi: Sequence[Quasi], needs: Sequence[NumberOf]) -> Mapping[Need[Any], float]:
    """Values of the policy as kernels' numbers, or an error that names the place in the policy."""
    by_name = {q.name: q for q in quasi}
    found = {need: by_name[need.column].number_of(need.value) for need in needs}
    problems = [
        Problem(need.path, f"is no value of a column of type {by_name[need.column].described}")
        for need, number in found.items()
        if number is None
    ]
    if problems:
        raise InputError(problems)
    return {need: number for need, number in found.items() if number is not None}


@dataclass(frozen=True)
class Range:
    """Values of a column by their bits, both ends included."""

    column: int
    low: int
    high: int

    @property
    def width(self) -> int:
        """The width of a piece."""
        return (self.high - self.low) // PIECES + 1


@dataclass(frozen=True)
class Pieces:
    """For each piece of a range how many values it holds, and the least and largest of them."""

    counts: npt.NDArray[np.int64]
    least: Bits
    largest: Bits

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces(
            self.counts + other.counts,
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
        )

    def rank_of(self, share: float, end: int) -> int:
        """The rank of the quantile at this end; the least value has rank 1."""
        n = int(self.counts.sum())
        # exactly the decimal that the policy says: in doubles, 0.07 * 100 is more than 7
        rank = max(1, ceil(Fraction(str(share)) * n))
        return rank if end == 0 else n + 1 - rank


@dataclass(frozen=True)
class Search:
    """A rank that is looked for within a range."""

    rank: int
    within: Range

    @property
    def found(self) -> bool:
        return self.within.low == self.within.high

    @property
    def value(self) -> float:
        return float(value_of(np.array([self.within.low], np.uint64))[0])

    def narrowed(self, counted: Mapping[Range, Pieces]) -> Search:
        """The search within the piece that holds the rank."""
        if self.found:
            return self
        pieces = counted[self.within]
        up_to = np.cumsum(pieces.counts)
        at = int(np.searchsorted(up_to, self.rank))
        before = int(up_to[at] - pieces.counts[at])
        within = replace(self.within, low=int(pieces.least[at]), high=int(pieces.largest[at]))
        return Search(self.rank - before, within)


def _counts(numbers: DataFrame, ranges: Sequence[Range]) -> dict[Range, Pieces]:
    found: Counts = tally(numbers, Counting(tuple(ranges)))
    return dict(zip(ranges, found.pieces, strict=True))


@dataclass(frozen=True)
class Counts:
    """The pieces of all ranges that are searched."""

    pieces: tuple[Pieces, ...]

    def __add__(self, other: Counts) -> Counts:
        pairs = zip(self.pieces, other.pieces, strict=True)
        return Counts(tuple(one + two for one, two in pairs))


@dataclass(frozen=True)
class Counting:
    """Counts the values in the pieces of all ranges; see `tally`."""

    ranges: tuple[Range, ...]

    def count(self, cells: pa.Table) -> Counts:
        bits = {
            column: bits_of(cells.column(f"q{column}").drop_null().to_numpy())
            for column in {one.column for one in self.ranges}
        }
        return Counts(tuple(_in_pieces(bits[one.column], one) for one in self.ranges))


def _in_pieces(bits: Bits, within: Range) -> Pieces:
    low, high = np.uint64(within.low), np.uint64(within.high)
    bits = bits[(bits >= low) & (bits <= high)]
    places = ((bits - low) // np.uint64(within.width)).astype(np.int64)
    counts = np.bincount(places, minlength=PIECES)
    least, largest = np.full(PIECES, _LAST, np.uint64), np.zeros(PIECES, np.uint64)
    np.minimum.at(least, places, bits)
    np.maximum.at(largest, places, bits)
    return Pieces(counts.astype(np.int64), least, largest)


def bits_of(values: Floats) -> Bits:
    """Integers in the order of these finite doubles; -0 is 0."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _TOP, ~bits, bits | _TOP)


def value_of(bits: Bits) -> Floats:
    """The inverse of `bits_of`."""
    return np.where(bits & _TOP, bits & ~_TOP, ~bits).view(np.float64)
