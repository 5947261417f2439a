"""The quasi-identifiers of one block as plain arrays: what spaces read and releases write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int32]


class Scale(StrEnum):
    """What arithmetic a column allows."""

    NUMERIC = "numeric"  # means and differences
    ORDINAL = "ordinal"  # order only; values are ranks
    NOMINAL = "nominal"  # equality only; values are codes 0, 1, 2, ...


@dataclass(frozen=True)
class Column:
    """One quasi-identifier: finite values, and a mark where the cell is null (value 0 there)."""

    name: str
    scale: Scale
    values: Floats
    null: Bools

    def with_values(self, values: Floats, null: Bools) -> Column:
        return replace(self, values=np.where(null, 0.0, values), null=null)

    def rows(self, rows: npt.NDArray[np.int64]) -> Column:
        """Some of the records, in this order."""
        return replace(self, values=self.values[rows], null=self.null[rows])


Records = tuple[Column, ...]
