"""What a block reports to the driver: numbers that can be added, however many blocks there are."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Fields are numbers, arrays of fixed shape, or tallies; `a + b` adds them field by field.

    The size does not depend on the number of rows. Counts add up exactly; for floating sums add
    the blocks in a fixed order and the result is the same to the last bit.
    """

    def __add__(self, other: Self) -> Self:
        # A tuple would be joined, not added, so a ragged tally keeps its parts in one flat array.
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return replace(self, **sums)
