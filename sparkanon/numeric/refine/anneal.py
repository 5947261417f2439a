"""Anneal small patches of neighbouring groups, one after the other: simulated annealing.

A local search stops where no single step helps. A patch is small enough to be shaken: steps that
raise its cost are taken with a probability that falls with the rise and with time, and what comes
out is kept if it costs less than before. The random numbers are a fixed sequence.
"""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.chance import WAITS, Chance, draw, make_chance, make_waits
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.refine.births import end_group, found_group
from sparkanon.numeric.refine.descent import SURE
from sparkanon.numeric.refine.patch import (
    Patch,
    fall,
    list_near,
    load,
    make_patch,
    move,
    rise,
    swap,
    tally,
)

MOST = 400  # records of a patch
STAGES = 20  # each with less heat than the one before
STEPS = 20  # for each record, in each stage
COOLER = 0.8  # times the heat, from stage to stage
RARE = 12  # so many of 1024 steps end a group or found a new one


@tight
def best_partner(patch: Patch, i: int, b: int) -> tuple[int, float]:
    """The member of group `b` that is best swapped with record `i`, and the change; O(size)."""
    a = patch.group[i]
    apart, mine, other = patch.apart[i], patch.sums[a], patch.sums[b]
    size_a, size_b = patch.size[a], patch.size[b]
    best, least = -1, np.inf
    for m in range(size_b):
        j = patch.members[b, m]
        change = (mine[j] - mine[i] - apart[j]) / size_a + (
            other[i] - other[j] - apart[j]
        ) / size_b
        if change < least:
            best, least = j, change
    return best, least


@tight
def cool(
    patch: Patch, count: int, groups: int, k: int, heat: float, state: Chance, waits: Floats,
    log: Ints,
) -> float:  # fmt: skip
    """Anneal a patch of `count` records; returns its cost. O(STAGES STEPS count size) on average.

    A step looks at a random record and the group of one of its near ones: it moves there where
    the sizes allow it, or swaps with the best of that group. `heat` at first is measured in the
    record's own near distances: sparse and dense regions meet in a patch. The last stage is cold.
    """
    group, size, near, scale = patch.group, patch.size, patch.near, patch.scale
    wanted = list_near(patch, count)
    for stage in range(STAGES + 1):
        tally(patch, count, groups)  # stops rounding drift
        if stage == STAGES:
            heat = 0.0
        for _ in range(STEPS * count):
            i = draw(state) % count
            j = near[i, draw(state) % wanted]
            bits = draw(state)
            limit = heat * waits[bits % WAITS] * scale[i]
            bits //= WAITS
            a, b = group[i], group[j]
            if bits % 1024 < RARE:
                if (bits // 1024) % 2 == 0:
                    change, steps = end_group(patch, count, groups, k, a, log)
                else:
                    change, steps = found_group(patch, count, groups, k, i, log)
                if not change <= limit:
                    for at in range(steps - 1, -1, -1):
                        move(patch, count, log[at, 0], log[at, 1])
            elif a == b:
                continue
            elif size[a] > k and size[b] < 2 * k - 1 and (bits // 1024) % 2 == 0:
                if rise(patch, i, b) - fall(patch, i) <= limit:
                    move(patch, count, i, b)
            else:
                o, change = best_partner(patch, i, b)
                if change <= limit and change != 0.0:
                    swap(patch, count, i, o)
        heat *= COOLER
    return tally(patch, count, groups)


@tight
def choose(size: Ints, row: Ints, seed: int, groups: int, names: Ints) -> int:
    """Names of `seed` and its nearest groups in `row`, at most `groups` and MOST records."""
    names[0], named, total = seed, 1, size[seed]
    for b in row:
        if b < 0 or named == groups or total + size[b] > MOST:
            break
        if size[b] > 0:
            names[named] = b
            named += 1
            total += size[b]
    return named


@tight
def store(patch: Patch, members: Ints, size: Ints, names: Ints, named: int, groups: int) -> None:
    """Write the groups of the patch back; new ones take the last free places."""
    free = len(size) - 1
    for g in range(groups):
        if g >= named and patch.size[g] == 0:
            continue
        name = names[g]
        if g >= named:
            while size[free] > 0:
                free -= 1
            name = free
        size[name] = patch.size[g]
        for m in range(patch.size[g]):
            members[name, m] = patch.rows[patch.members[g, m]]


@kernel
def sweep(
    rows: Floats, metric: Metric, members: Ints, size: Ints, lists: Ints, k: int, groups: int,
    apart: int, heat: float, turn: int,
) -> float:  # fmt: skip
    """Anneal patches of `groups` neighbouring groups, every `apart`-th one in the middle of one.

    `members` and `size` have room for n // k groups; `lists` holds the neighbours of the first of
    them. Every patch starts with `heat`, every `turn` has its own random numbers. Returns by how
    much the cost fell. With r records in a patch O(n / (k apart) r (d r + STAGES (r + STEPS k))).
    """
    patch, names = make_patch(rows.shape[1], MOST, k), np.empty(MOST // k + 1, np.int32)
    state, waits, log = make_chance(turn), make_waits(), np.empty((2 * k, 2), np.int32)
    gained = 0.0
    for first in range(0, lists.shape[0], apart):
        seed = min(first + draw(state) % apart, lists.shape[0] - 1)
        if size[seed] == 0 or size[seed] > MOST:
            continue
        named = choose(size, lists[seed], seed, groups, names)
        if named < 2:
            continue
        count = load(patch, rows, metric, members, size, names, named)
        slots = count // k + 1
        before = tally(patch, count, slots)
        after = cool(patch, count, slots, k, heat, state, waits, log)
        if after < before * (1.0 - SURE):
            store(patch, members, size, names, named, slots)
            gained += before - after
    return gained
