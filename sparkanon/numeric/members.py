"""Which records a label has, and groups that have too many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats

Heuristic = Callable[[Floats, Metric, int], Ints]


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


def break_up(
    heuristic: Heuristic,
    values: Floats,
    metric: Metric,
    k: int,
    labels: Ints,
) -> Ints:
    """`labels` in which groups of 2k or more records are split by a fixed-size heuristic."""
    starts, records = members(labels)
    labels, groups = labels.copy(), len(starts) - 1
    for g in np.flatnonzero(np.diff(starts) >= 2 * k):
        within = records[starts[g] : starts[g + 1]]
        parts = heuristic(np.ascontiguousarray(values[:, within]), metric, k)
        labels[within] = np.where(parts == 0, g, groups - 1 + parts)
        groups += int(parts.max())
    return labels
