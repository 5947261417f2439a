"""Bins for values, the same for the original and the release, and coarser bins for pairs.

The papers speak of distinct values; at scale a column has millions. A column with at most
`FINE_BINS` distinct values has a bin for each, and every count is that of the paper; a richer one
has bins that are equally full in the original.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparkanon.measures.tally import Ints
from sparkanon.numeric.records import Bools, Floats, Labels

# Entropies resolve up to 8 bits; a table's counts of 30 columns stay under 100 kB.
FINE_BINS = 256
# 16 x 16 cells for each pair of columns: 30 columns make 435 pairs and 1 MB.
COARSE_BINS = 16


@dataclass(frozen=True)
class Grid:
    """Bins of an ordered column: bin i starts at edge i - 1, both ends are open, nulls last."""

    edges: Floats

    @property
    def bins(self) -> int:
        return self.edges.size + 2

    def codes(self, values: Floats, null: Bools) -> Labels:
        """(n,) bin of each cell; O(n log bins)."""
        found = np.searchsorted(self.edges, values, side="right")
        return np.where(null, self.bins - 1, found).astype(np.int32)


@dataclass(frozen=True)
class CategoryGrid:
    """Bins of a nominal column whose codes are 0 .. categories - 1; nulls come last."""

    categories: int

    @property
    def bins(self) -> int:
        return self.categories + 1

    def codes(self, values: Floats, null: Bools) -> Labels:
        return np.where(null, self.categories, values).astype(np.int32)


def grid_of(sample: Floats, bins: int = FINE_BINS) -> Grid:
    """From a sample of non-null values, sorted: one bin a distinct value, or equal frequencies.

    Edges are values of the sample, so equal values are never split; quantiles that fall on the
    same value make one edge. Add released values to the sample if their distinct values are to
    have bins of their own.
    """
    distinct = np.unique(sample)
    if distinct.size <= bins:
        return Grid(distinct[1:])
    starts = np.unique(sample[np.arange(1, bins) * sample.size // bins])
    return Grid(starts[starts > sample[0]])


def coarse_ordered(counts: Ints, bins: int = COARSE_BINS) -> Ints:
    """(fine bins,) coarse bin of each fine bin: neighbours join into equally full ones.

    `counts` are those of the original, or of a sample of it; the last one, of nulls, stays alone.
    """
    values = counts[:-1]
    if values.size <= bins:
        return np.arange(counts.size, dtype=np.int64)
    # One is added to each count, so that empty bins are distributed as well.
    filled = values + 1
    middle = np.cumsum(filled) - filled / 2
    joined = np.unique((bins * middle / filled.sum()).astype(np.int64), return_inverse=True)[1]
    return np.append(joined, joined.max() + 1).astype(np.int64)


def coarse_nominal(counts: Ints, bins: int = COARSE_BINS) -> Ints:
    """The most frequent categories keep a bin each, all others share one; nulls stay alone."""
    values = counts[:-1]
    if values.size <= bins:
        return np.arange(counts.size, dtype=np.int64)
    shared = bins - 1
    coarse = np.full(counts.size, shared, dtype=np.int64)
    coarse[np.argsort(-values, kind="stable")[:shared]] = np.arange(shared)
    coarse[-1] = shared + 1
    return coarse
