"""Leaves, MDAV in each, then refinement over bunches of neighbouring groups."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.leaves import split
from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.refine import markers, search

LEAF = 512  # records of one MDAV
BUNCH = 100  # groups of one search
WHOLE = 4096  # up to here one MDAV over all records, one bunch


@kernel
def mdav_in_leaves(
    values: Floats, caps: Floats, capped: bool, codes: Bools, k: int, labels: Ints
) -> int:
    """Split `values` (d, n) into leaves and group each with MDAV; returns the number of groups."""
    n = values.shape[1]
    size = n if n <= WHOLE else max(LEAF, 8 * k)
    spare = values.copy()
    order, bounds = split(spare, caps, capped, size, k, 0)
    label = 0
    for part in range(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        leaf = spare[:, low:high].copy()
        label = mdav(leaf, order[low:high], caps, capped, codes, k, labels, label)
    return label


@kernel
def refine_pass(
    values: Floats, caps: Floats, capped: bool, k: int, labels: Ints, groups: int, turn: int
) -> int:
    """Search once in every bunch of neighbouring groups; returns the number of steps taken."""
    d, n = values.shape
    points, starts, records = markers(values, capped, labels, groups)
    size = groups if n <= WHOLE else BUNCH
    order, bounds = split(points, caps, capped, size, 1, turn)
    steps = 0
    for part in range(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        count = 0
        for g in order[low:high]:
            count += starts[g + 1] - starts[g]
        local, ids = np.empty((d, count)), np.empty(count, np.int32)
        own = np.empty(count, np.int32)
        members = np.empty((high - low, 2 * k), np.int32)
        sizes = np.empty(high - low, np.int32)
        at = 0
        for h in range(high - low):
            g = order[low + h]
            sizes[h] = starts[g + 1] - starts[g]
            for m in range(sizes[h]):
                ids[at] = records[starts[g] + m]
                own[at] = h
                members[h, m] = at
                at += 1
        for j in range(d):
            for i in range(count):
                local[j, i] = values[j, ids[i]]
        steps += search(local, caps, capped, k, members, sizes, own)
        for i in range(count):
            labels[ids[i]] = order[low + own[i]]
    return steps


@kernel
def refined(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int, passes: int) -> Ints:
    """Labels of the records of `values` (d, n): MDAV in leaves, then up to `passes` passes."""
    labels = np.empty(values.shape[1], np.int32)
    groups = mdav_in_leaves(values, caps, capped, codes, k, labels)
    for turn in range(passes):
        if groups == 1 or refine_pass(values, caps, capped, k, labels, groups, turn) == 0:
            break
    return labels
