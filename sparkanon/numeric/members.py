"""Which records a label has."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel


@kernel
def members(labels: Ints) -> tuple[Ints, Ints]:
    """Records by label, lower index first: those of label g stand at starts[g]..starts[g + 1] - 1.

    Returns (starts, records); O(n).
    """
    starts, records = np.zeros(labels.max() + 2, np.int32), np.empty(len(labels), np.int32)
    for i in range(len(labels)):
        starts[labels[i] + 1] += 1
    for g in range(1, len(starts)):
        starts[g] += starts[g - 1]
    fill = starts.copy()
    for i in range(len(labels)):
        records[fill[labels[i]]] = i
        fill[labels[i]] += 1
    return starts, records
