"""How well a subset of columns distinguishes records: which columns are quasi-identifiers.

Uniqueness is the share of sample uniques (Skinner & Elliot 2002,
https://doi.org/10.1111/1467-9868.00365), separation the separation ratio of Motwani & Xu 2007,
Efficient Algorithms for Masking and Finding Quasi-Identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sparkanon.needs import Need


@dataclass(frozen=True)
class SubsetClasses:
    """Classes of records that agree in a subset of columns; sets that share no class are added.

    The fields are Python integers, because the square of a large table does not fit into 64 bits.
    """

    singles: int = 0  # classes of one record
    records: int = 0  # sum of sizes
    squares: int = 0  # sum of squared sizes

    @classmethod
    def of(cls, sizes: npt.NDArray[np.integer[Any]]) -> SubsetClasses:
        """From the size of every class; O(classes log classes)."""
        distinct, times = (part.tolist() for part in np.unique(sizes, return_counts=True))
        return cls(
            singles=int(np.count_nonzero(sizes == 1)),
            records=sum(s * t for s, t in zip(distinct, times, strict=True)),
            squares=sum(s * s * t for s, t in zip(distinct, times, strict=True)),
        )

    def __add__(self, other: SubsetClasses) -> SubsetClasses:
        return SubsetClasses(
            self.singles + other.singles,
            self.records + other.records,
            self.squares + other.squares,
        )

    @property
    def uniqueness(self) -> float | None:
        """Share of records that no other record equals in the subset; None without records."""
        return self.singles / self.records if self.records else None

    @property
    def separation(self) -> float | None:
        """Share of pairs of records that differ in the subset; None without a pair."""
        pairs = self.records * (self.records - 1)
        return (pairs - (self.squares - self.records)) / pairs if pairs else None


@dataclass(frozen=True)
class Subsets(Need[Mapping[str | None, SubsetClasses]]):
    """Classes of the release by all columns (None), of the original by each subset up to a size.

    Subsets are named by their columns: `age + sex`.
    """

    largest: int
