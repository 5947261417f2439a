"""Points as the arguments of a kernel."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats


def arrays(points: Points) -> tuple[Floats, Metric]:
    """(values, metric), the values writable and contiguous.

    Kernels are compiled once for each kind of array: a read-only one, as Arrow hands out, would
    cost seconds of compilation in every process.
    """
    return np.require(points.values, np.float64, ["C", "W"]), points.metric
