"""The quasi-identifiers of one block as plain arrays: what spaces read and releases write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int32]
Prints = npt.NDArray[np.uint64]


class Scale(StrEnum):
    """What arithmetic a column allows."""

    NUMERIC = "numeric"  # means and differences
    ORDINAL = "ordinal"  # order only; values are ranks
    NOMINAL = "nominal"  # equality only; values are codes 0, 1, 2, ...


@dataclass(frozen=True)
class Grid:
    """Which numbers a column can publish. Without limits: every double."""

    places: int | None = None  # decimal places
    low: float = -np.inf
    high: float = np.inf
    single: bool = False  # of single precision

    def nearest(self, values: Floats) -> Floats:
        """What is published in place of any numbers."""
        rounded = values if self.places is None else np.round(values, self.places)
        if np.isfinite(self.low):
            rounded = np.clip(rounded, self.low, self.high)
        return rounded.astype(np.float32).astype(np.float64) if self.single else rounded


@dataclass(frozen=True)
class Column:
    """One quasi-identifier: finite values, and a mark where the cell is null (value 0 there)."""

    name: str
    scale: Scale
    values: Floats
    null: Bools
    grid: Grid = Grid()  # of what is published

    def with_values(self, values: Floats, null: Bools) -> Column:
        return replace(self, values=np.where(null, 0.0, values), null=null)

    def rows(self, rows: npt.NDArray[np.int64]) -> Column:
        """Some of the records, in this order."""
        return replace(self, values=self.values[rows], null=self.null[rows])


Records = tuple[Column, ...]


def prints(records: Records, start: Prints) -> Prints:
    """A hash of every record, from `start` on: equal ones where equal cells follow equal starts.

    Different records have different hashes but for a chance in 2^64.
    """
    look = start.copy()
    for column in records:
        look ^= np.where(column.null, np.nan, column.values + 0.0).view(np.uint64)
        look *= np.uint64(0x9E3779B97F4A7C15)
        look ^= look >> np.uint64(32)
    return look
