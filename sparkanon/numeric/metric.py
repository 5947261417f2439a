"""The distance of two records, as an argument of a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.records import Bools, Floats

Reals = npt.NDArray[Any]  # float64 where a decision is exact, float32 where a good guess will do


class Metric(NamedTuple):
    """What every coordinate adds to a distance, which is the sum over the coordinates.

    A coordinate is one row of the values of `Points`, a number for each record. Usually it stands
    for one column of the table, but a column may have several (`euclidean` marks its nulls in a
    second one). There are two kinds of coordinates: numbers, whose centre is a mean, and codes of
    categories, whose centre is a mode. `distance.py` alone knows what two values of a coordinate
    add to a distance; the other kernels hand the metric along, and ask only whether there are
    centroids, which a capped distance does not have.

    A third kind, categories whose distances stand in a table, will be one field here (the tables,
    by coordinate) and one branch wherever `distance.py` looks at a coordinate of a capped
    distance. Such a coordinate is a code, too: its value is a row of its table, its cap the
    largest entry, and a box gives it the bounds 0 and cap. `peel.in_float32`, which moves and
    scales coordinates, must then scale the table instead.

    Numba compiles a kernel once for each type of the fields: for float32 caps a second time.
    """

    caps: Reals  # (d,) the most that a coordinate adds, if `capped`; else not used
    capped: bool  # False: the sum of (x - y)^2. True: the sum of min(|x - y|, cap)
    codes: Bools  # (d,) which coordinates are codes of categories

    @classmethod
    def euclidean(cls, d: int) -> Metric:
        """Squared Euclidean distance of `d` numbers."""
        return cls(np.ones(d), False, np.zeros(d, np.bool_))

    @classmethod
    def manhattan(cls, caps: Floats, codes: Bools) -> Metric:
        """Capped Manhattan distance.

        The arrays become writable and contiguous: kernels are compiled for this kind only.
        """
        return cls(
            np.require(caps, np.float64, ["C", "W"]), True, np.require(codes, np.bool_, ["C", "W"])
        )

    def some(self, chosen: Bools) -> Metric:
        """The metric of some of the coordinates."""
        return Metric(self.caps[chosen], self.capped, self.codes[chosen])
