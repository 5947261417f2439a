"""Entropy and mutual information of a table from counts of bins, in bits.

The unit is bits, because the 82.80 that ROUND table 8 prints for the original Wine data is the
sum of -p log2 p over the distinct values of its 14 columns. The two tables are counted separately,
so no pairing is needed. A null is a value of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from sparkanon.measures.base import About, FromOne, Values, by_column
from sparkanon.measures.needs import Given
from sparkanon.measures.tally import Ints, Tally
from sparkanon.needs import Need
from sparkanon.numeric.records import Floats, Labels
from sparkanon.registry import spec


@dataclass(frozen=True)
class ColumnBins:
    """How a column is counted: in `bins` bins alone, joined by `coarse_of` (bins,) in pairs."""

    name: str
    coarse_of: Ints

    @property
    def bins(self) -> int:
        return self.coarse_of.size

    @property
    def coarse(self) -> int:
        return int(self.coarse_of.max()) + 1


@dataclass(frozen=True)
class BinCounts(Tally):
    """Counts of one table: of every column's bins, and of coarse cells of every pair i < j."""

    single: Ints  # all columns one after the other
    pairs: Ints  # all pairs one after the other, row by row


Columns = tuple[ColumnBins, ...]
Counted = tuple[BinCounts, BinCounts, Columns]


@dataclass(frozen=True)
class Bins(Need[Counted]):
    """Counts of bins and of pairs of bins, of the original and of the release."""


def local(codes: Sequence[Labels], columns: Sequence[ColumnBins]) -> BinCounts:
    """One block of one table, as bins (n,) of each column; O(n d^2)."""
    single = [_counted(code, c.bins, c.name) for code, c in zip(codes, columns, strict=True)]
    coarse = [c.coarse_of[code] for code, c in zip(codes, columns, strict=True)]
    pairs = [
        np.bincount(
            coarse[i] * columns[j].coarse + coarse[j],
            minlength=columns[i].coarse * columns[j].coarse,
        )
        for i, j in combinations(range(len(columns)), 2)
    ]
    none = np.zeros(0, dtype=np.int64)
    return BinCounts(np.concatenate([none, *single]), np.concatenate([none, *pairs]))


def entropies(counts: BinCounts, columns: Sequence[ColumnBins]) -> Floats:
    """(m,) Shannon entropy of each column of one table; of the original, to stand beside."""
    ends = np.cumsum([c.bins for c in columns], dtype=np.int64).tolist()
    starts = [0, *ends[:-1]]
    parts = (counts.single[start:end] for start, end in zip(starts, ends, strict=True))
    return np.array([_entropy(part) for part in parts], dtype=np.float64)


def mutual_information(counts: BinCounts, columns: Sequence[ColumnBins]) -> Floats:
    """(m, m) mutual information of each pair of columns, PKA (3); zeros on the diagonal."""
    found = np.zeros((len(columns), len(columns)))
    for i, j, cells in _tables(counts, columns):
        shared = _entropy(cells.sum(axis=1)) + _entropy(cells.sum(axis=0)) - _entropy(cells)
        found[i, j] = found[j, i] = max(shared, 0.0)
    return found


def _average_information(counts: BinCounts, columns: Sequence[ColumnBins]) -> Floats:
    matrix = mutual_information(counts, columns)
    return np.asarray(matrix.sum(axis=1) / max(len(columns) - 1, 1))


def _tables(counts: BinCounts, columns: Sequence[ColumnBins]) -> Iterator[tuple[int, int, Ints]]:
    start = 0
    for i, j in combinations(range(len(columns)), 2):
        shape = (columns[i].coarse, columns[j].coarse)
        end = start + shape[0] * shape[1]
        yield i, j, counts.pairs[start:end].reshape(shape)
        start = end


def _counted(code: Labels, bins: int, name: str) -> Ints:
    if code.size and not 0 <= code.min() <= code.max() < bins:
        raise ValueError(f"column {name!r} has codes outside its {bins} bins")
    return np.bincount(code, minlength=bins)


def _entropy(counts: Ints) -> float:
    total = int(counts.sum())
    if total == 0:
        return 0.0
    share = counts[counts > 0] / total
    # + 0.0 turns the -0.0 of a constant column into 0.0
    return float(-np.sum(share * np.log2(share))) + 0.0


class OfBins(FromOne[Counted]):
    """A measure of the counts of bins of both tables."""

    @abstractmethod
    def of(self, original: BinCounts, released: BinCounts, columns: Columns) -> Values:
        """Of one column or more."""

    def asks(self, given: Given) -> Bins:
        return Bins()

    def values(self, answer: Counted, given: Given) -> Values:
        return self.of(*answer) if answer[-1] else {}


@spec
class Entropy(OfBins):
    """Shannon entropy of the released columns, in bits; the table has the sum (ROUND 4)."""

    about: ClassVar[About] = About(
        key="entropy",
        title="Entropy",
        family="loss",
        unit="number",
        better="higher",
        formula=("-sum of p log2 p of the published values, in bits, per column and summed"),
        source="Senavirathne, Torra 2019, section 3.3",
        meaning="How much variety the published values still have.",
        conclude=(
            "It falls as values are made equal. Compare it between releases of the same table, "
            "not between tables."
        ),
    )

    def of(self, original: BinCounts, released: BinCounts, columns: Columns) -> Values:
        found = entropies(released, columns)
        return by_column(float(found.sum()), found, (c.name for c in columns))


@spec
class MiLoss(OfBins):
    """Mean loss of the columns' average mutual information (PKA 5.1).

    MI_loss = 1/m * sum of (MI_T - MI_T'), where MI_T is the vector of each attribute's average
    mutual information. Chosen: the average is over the m - 1 other attributes (with itself an
    attribute shares its entropy, which is no association), and the sign stays as in the formula,
    so a gain is negative.
    """

    about: ClassVar[About] = About(
        key="mi_loss",
        title="Loss of mutual information",
        family="loss",
        unit="number",
        better="lower",
        formula=("1/m * sum over columns of (mean MI original - mean MI released), in bits"),
        source="Senavirathne, Torra 2021, section 5.1",
        meaning=(
            "How much less the columns reveal about each other after release; works for text, too."
        ),
        conclude=(
            "Near 0 relations between columns are kept. Below 0 the release shows relations "
            "that the original has not."
        ),
    )

    def of(self, original: BinCounts, released: BinCounts, columns: Columns) -> Values:
        lost = _average_information(original, columns) - _average_information(released, columns)
        return by_column(float(lost.mean()), lost, (c.name for c in columns))
