"""The refined grouping: a start from the outside in, then local search between neighbours."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.groups import make_groups
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.neighbours import neighbours, once
from sparkanon.numeric.peel import peel
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.refine import search

WHOLE = 4096  # up to here the start is an exact MDAV
PART = 32  # groups that are looked at together when neighbours are listed
PARTS = 24  # the nearest parts hold nearly all near groups
WANTED = 10  # neighbours of a group


@kernel
def start(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int) -> Ints:
    """Labels of the records of `values` (d, n) before any refinement."""
    if values.shape[1] <= WHOLE:
        return mdav(values, caps, capped, codes, k)
    return peel(values, caps, capped, codes, k)


@kernel
def refine(values: Floats, caps: Floats, capped: bool, k: int, labels: Ints, passes: int) -> int:
    """Lower the cost of the groups in `labels`, sizes in k..2k-1; returns the steps taken.

    Up to `passes` passes; stops when one finds nothing.
    """
    groups, record, bounds, points = make_groups(values, caps, capped, k, labels, PART)
    count = len(groups.size)
    lists = neighbours(points, bounds, caps, capped, PARTS, min(WANTED, count - 1))
    once(lists)
    changed, seen = np.ones(count, np.int32), np.zeros(count, np.int32)
    here, there = np.empty(2 * k - 1), np.empty(2 * k - 1)
    clock = 1
    for _ in range(passes):
        before = clock
        clock = search(groups, capped, k, lists, changed, seen, clock, here, there)
        if clock == before:
            break
    for g in range(count):
        for m in range(groups.size[g]):
            labels[record[groups.members[g, m]]] = g
    return clock - 1


@kernel
def refined(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int, passes: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k."""
    labels = start(values, caps, capped, codes, k)
    if passes > 0 and labels.max() > 0:
        refine(values, caps, capped, k, labels, passes)
    return labels
