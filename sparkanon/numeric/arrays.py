"""Points as the arguments of a kernel."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Bools, Floats


def arrays(points: Points) -> tuple[Floats, Floats, bool, Bools]:
    """(values, caps, capped, codes), writable and contiguous.

    Kernels are compiled once for each kind of array: a read-only one, as Arrow hands out, would
    cost seconds of compilation in every process.
    """
    caps = np.ones(points.d) if points.caps is None else points.caps
    return (
        np.require(points.values, np.float64, ["C", "W"]),
        np.require(caps, np.float64, ["C", "W"]),
        points.caps is not None,
        np.require(points.codes, np.bool_, ["C", "W"]),
    )
