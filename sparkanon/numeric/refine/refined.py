"""The refined grouping: a start from the outside in, then local search between neighbours."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.group.groups import Groups, make_groups, relabel, total_cost
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.group.path import optimal_path
from sparkanon.numeric.group.peel import in_float32, peel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.refine.anneal import sweep
from sparkanon.numeric.refine.chain import chain
from sparkanon.numeric.refine.descent import LANES, dissolve, search
from sparkanon.numeric.search.neighbours import neighbours, once

WHOLE = 4096  # up to here the start is an exact MDAV, and patches are annealed
PART = 32  # groups that are looked at together when neighbours are listed
PARTS = 8  # the nearest parts hold nearly all near groups
WANTED = 4  # neighbours of a group
LARGE = 256  # no refinement of larger groups without centroids: a step costs O(k^2 d)
LARGEST = 1000  # nor of these with them: scratch is O(k^2), and so large groups have little to win
MANY = 32  # neighbours of a group where there are few groups
WORTH = 0.005  # of the cost: of a large block, no further pass after one that gains less
SWEEPS = 4  # over the patches of a small block; of a large one with high effort
MORE_SWEEPS = 48  # of a small block with high effort
ANNEALED = 20_480  # records, in all sweeps together: a larger block than this has none
# Groups of a patch, groups to the middle of the next one, and heat. Sweeps take these in turns,
# because patches of another size or heat improve other groups. Every group is in about four
# patches of a sweep.
TURNS = ((16, 4, 0.3), (28, 7, 0.3), (8, 2, 0.15))


def own_start(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels of the records of `values` (d, n) before any refinement."""
    if values.shape[1] <= WHOLE:
        return mdav(values, metric, k)
    return peel(values, metric, k)


def sweeps(n: int, high: bool) -> int:
    """How often the patches of a block of `n` records are annealed, by effort."""
    if n <= WHOLE:
        return MORE_SWEEPS if high else SWEEPS
    return SWEEPS if high else min(SWEEPS, ANNEALED // n)


def listed(
    values: Floats, metric: Metric, k: int, labels: Ints, many: bool
) -> tuple[Groups, Ints, Ints]:
    """The groups of `labels`, the record of every row, and the neighbours of every group."""
    groups, record, bounds, points = make_groups(values, metric, k, labels, PART)
    whole = len(record) <= WHOLE
    parts, wanted = len(bounds) if whole else PARTS, MANY if many else WANTED
    points32, metric32 = in_float32(points, metric)
    wanted = min(wanted, len(groups.size) - 1)
    return groups, record, neighbours(points32, bounds, metric32, parts, wanted)


def refine(values: Floats, metric: Metric, k: int, labels: Ints, passes: int) -> Ints:
    """Lower the cost of the groups in `labels`, sizes stay in k..2k-1; labels 0, 1, ...

    Up to `passes` passes; stops after one that gains nothing, or hardly anything in a large block.
    """
    small = len(labels) <= WHOLE
    groups, record, lists = listed(values, metric, k, labels, small)
    count = len(groups.size)
    pairs = lists.copy()
    once(pairs)
    changed, seen = np.ones(count, np.int32), np.zeros(count, np.int32)
    width = (2 * k - 2 + LANES) // LANES * LANES
    lanes, near, here = np.zeros((len(values), width)), np.empty((width, width)), np.empty(width)
    went = np.empty(2 * k - 1, np.int32)
    clock, left = 1, total_cost(groups)
    worth = 0.0 if small else WORTH
    for _ in range(passes):
        before, last = clock, left
        clock = search(groups, k, pairs, changed, seen, clock, lanes, near, here)
        dissolve(groups, k, lists, changed, before, went)
        left = total_cost(groups)
        if last - left <= worth * last:
            break
        clock += 1
    return relabel(groups, record)


def along_a_path(values: Floats, metric: Metric, k: int, labels: Ints) -> Ints:
    """The cheapest groups along a path through the groups of `labels`: never dearer than they."""
    groups, record, lists = listed(values, metric, k, labels, True)
    return optimal_path(values, metric, chain(groups, lists, record), k)


def anneal(values: Floats, metric: Metric, k: int, labels: Ints, turn: int) -> tuple[Ints, float]:
    """Anneal patches of neighbouring groups once all over; labels, and by how much cost fell."""
    groups, record, lists = listed(values, metric, k, labels, True)
    spare = len(labels) // k - len(groups.size)  # as many groups as there can be
    members = np.concatenate([groups.members, np.zeros((spare, 2 * k - 1), np.int32)])
    size = np.concatenate([groups.size, np.zeros(spare, np.int32)])
    patch = TURNS[turn % len(TURNS)]
    gained = sweep(groups.rows, metric, members, size, lists, k, *patch, turn)
    return relabel(groups._replace(members=members, size=size), record), gained


def refined(
    values: Floats, metric: Metric, k: int, labels: Ints, passes: int, sweeps: int
) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k, from those of a start.

    Local search first, then `sweeps` times the cheapest groups along a path, annealing and local
    search again; stops when annealing has gained nothing in any way. O(n k d) a sweep, with large
    constants.
    """
    if passes == 0 or labels.max() == 0 or k > (LARGE if metric.capped else LARGEST):
        return labels
    labels, idle = refine(values, metric, k, labels, passes), 0
    for turn in range(sweeps):
        labels = along_a_path(values, metric, k, labels)
        labels, gained = anneal(values, metric, k, labels, turn)
        labels = refine(values, metric, k, labels, passes)
        idle = 0 if gained > 0.0 else idle + 1
        if idle == len(TURNS):
            break
    return labels
