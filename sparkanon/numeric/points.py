"""Coordinates of the records of one block, and the distance that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparkanon.errors import InputError
from sparkanon.numeric.guard import Guard, no_guard
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


@dataclass(frozen=True)
class Points:
    """`n` records in `d` coordinates; a distance is a sum over the coordinates.

    Attributes
    ----------
    values : float64 array of shape (d, n), C-contiguous
        One row a coordinate, so kernels scan a coordinate at a time. Always finite. Under a
        capped distance a numeric column is scaled to 0..cap and a null stands at 2 * cap; a
        category is code * cap, so that two different ones are always `cap` apart.
    metric : Metric
        How far apart two records are, and which coordinates are category codes.
    guard : Guard
        What groups should keep besides their size. A grouping may leave it to `merge.merged`.
    """

    values: Floats
    metric: Metric
    guard: Guard = field(default_factory=no_guard)

    @classmethod
    def euclidean(cls, values: Floats) -> Points:
        values = np.ascontiguousarray(values, dtype=np.float64)
        return cls(values, Metric.euclidean(len(values)))

    def checked(self) -> Points:
        """These points, if kernels can bear them: they search among finite numbers only."""
        if not np.isfinite(self.values).all():
            raise InputError("the distance of some records is not finite; rescale the columns")
        return self

    @property
    def n(self) -> int:
        return int(self.values.shape[1])

    @property
    def d(self) -> int:
        return int(self.values.shape[0])
