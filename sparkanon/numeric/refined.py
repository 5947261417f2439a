"""The refined grouping: a start from the outside in, then local search between neighbours."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.groups import make_groups, relabel, total_cost
from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.neighbours import neighbours, once
from sparkanon.numeric.peel import in_float32, peel
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.refine import LANES, dissolve, search

WHOLE = 4096  # up to here the start is an exact MDAV
PART = 32  # groups that are looked at together when neighbours are listed
PARTS = 16  # the nearest parts hold nearly all near groups
WANTED = 6  # neighbours of a group
LARGE = 256  # no refinement of larger groups without centroids: a step costs O(k^2 d)
MANY = 32  # neighbours of a group where there are few groups
WORTH = 0.005  # of the cost: of a large block, no further pass after one that gains less


def start(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int) -> Ints:
    """Labels of the records of `values` (d, n) before any refinement."""
    if values.shape[1] <= WHOLE:
        return mdav(values, caps, capped, codes, k)
    return peel(values, caps, capped, codes, k)


def refine(values: Floats, caps: Floats, capped: bool, k: int, labels: Ints, passes: int) -> Ints:
    """Lower the cost of the groups in `labels`, sizes stay in k..2k-1; labels 0, 1, ...

    Up to `passes` passes; stops after one that gains nothing, or hardly anything in a large block.
    """
    groups, record, bounds, points = make_groups(values, caps, capped, k, labels, PART)
    count = len(groups.size)
    parts, wanted = (len(bounds), MANY) if len(record) <= WHOLE else (PARTS, WANTED)
    points32, caps32 = in_float32(points, caps, capped)
    lists = neighbours(points32, bounds, caps32, capped, parts, min(wanted, count - 1))
    pairs = lists.copy()
    once(pairs)
    changed, seen = np.ones(count, np.int32), np.zeros(count, np.int32)
    width = (2 * k - 2 + LANES) // LANES * LANES
    lanes, near, here = np.zeros((len(caps), width)), np.empty((width, width)), np.empty(width)
    went = np.empty(2 * k - 1, np.int32)
    clock, left = 1, total_cost(groups)
    worth = WORTH if len(record) > WHOLE else 0.0
    for _ in range(passes):
        before, last = clock, left
        clock = search(groups, capped, k, pairs, changed, seen, clock, lanes, near, here)
        dissolve(groups, capped, k, lists, changed, before, went)
        left = total_cost(groups)
        if last - left <= worth * last:
            break
        clock += 1
    return relabel(groups, record)


def refined(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int, passes: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k."""
    labels = start(values, caps, capped, codes, k)
    if passes == 0 or labels.max() == 0 or (capped and k > LARGE):
        return labels
    return refine(values, caps, capped, k, labels, passes)
