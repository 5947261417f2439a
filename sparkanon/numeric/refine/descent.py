"""Local search: swap, move and dissolve between neighbouring groups while the cost falls."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.groups import Groups, cost, e, settle
from sparkanon.numeric.jit import tight
from sparkanon.numeric.records import Floats

LANES = 4  # members of a group are padded to whole vectors
STEPS = 16  # between two groups before the next pair has its turn
SURE = 1e-9  # a step must lower the cost by this part of the terms it is made of


@tight
def between(groups: Groups, a: int, b: int, lanes: Floats, near: Floats) -> None:
    """near[m, o] = d(member m of a, member o of b), by lanes of the members of `b`."""
    rows, members, size, metric = groups.rows, groups.members, groups.size, groups.metric
    for o in range(size[b]):
        i = members[b, o]
        for j in range(rows.shape[1]):
            lanes[j, o] = rows[i, j]
    count = (size[b] + LANES - 1) // LANES * LANES
    for m in range(size[a]):
        distances(lanes, metric, rows[members[a, m]], count, near[m])


@tight
def best_step(
    groups: Groups, k: int, a: int, b: int, near: Floats, here: Floats
) -> tuple[int, int]:
    """The best step between the groups `a` and `b` as (slot in a, slot in b), or (-1, -1).

    A slot is -1 where nobody comes back: a move. `near` is as `between` left it; the sums of its
    rows and columns give every e(i, other group). `here` is scratch. O(size^2).
    """
    members, own, within = groups.members, groups.own, groups.within
    size_a, size_b = groups.size[a], groups.size[b]
    best, from_a, from_b = 0.0, -1, -1
    share = 1.0 / size_a + 1.0 / size_b
    for o in range(size_b):
        here[o] = 0.0
    for m in range(size_a):
        for o in range(size_b):
            here[o] += near[m, o]
    for o in range(size_b):
        here[o] = here[o] / size_a - within[a]
    for m in range(size_a):
        mine, there = own[members[a, m]], 0.0
        for o in range(size_b):
            there += near[m, o]
        there = there / size_b - within[b]
        if size_a > k and size_b < 2 * k - 1:
            gain = mine * size_a / (size_a - 1) - there * size_b / (size_b + 1)
            if gain > best and gain > SURE * (mine + there):
                best, from_a, from_b = gain, m, -1
        for o in range(size_b):
            yours = own[members[b, o]]
            gain = mine - there + yours - here[o] + share * near[m, o]
            if gain > best and gain > SURE * (mine + there + yours + here[o]):
                best, from_a, from_b = gain, m, o
    if size_b > k and size_a < 2 * k - 1:
        for o in range(size_b):
            yours = own[members[b, o]]
            gain = yours * size_b / (size_b - 1) - here[o] * size_a / (size_a + 1)
            if gain > best and gain > SURE * (yours + here[o]):
                best, from_a, from_b = gain, -1, o
    return from_a, from_b


@tight
def step(groups: Groups, a: int, b: int, from_a: int, from_b: int) -> None:
    """Take a step that `best_step` found."""
    members, size = groups.members, groups.size
    if from_a >= 0 and from_b >= 0:
        members[a, from_a], members[b, from_b] = members[b, from_b], members[a, from_a]
    elif from_a >= 0:
        members[b, size[b]] = members[a, from_a]
        members[a, from_a] = members[a, size[a] - 1]
        size[a] -= 1
        size[b] += 1
    else:
        members[a, size[a]] = members[b, from_b]
        members[b, from_b] = members[b, size[b] - 1]
        size[b] -= 1
        size[a] += 1
    settle(groups, a)
    settle(groups, b)


@tight
def search(
    groups: Groups, k: int, lists: Ints, changed: Ints, seen: Ints, clock: int,
    lanes: Floats, near: Floats, here: Floats,
) -> int:  # fmt: skip
    """One pass over all pairs of neighbours of which one has changed since they were last seen.

    `changed` and `seen` (groups,) hold the time of the last change of a group and of the last
    look at its list. `lanes` (d, w), `near` (2k - 1, w) and `here` (w,) are scratch, w the size of
    a group in whole lanes. Returns the time after the pass, a tick for every step.
    """
    size = groups.size
    for a in range(len(seen)):
        since = seen[a]
        seen[a] = clock
        for n in range(lists.shape[1]):
            b = lists[a, n]
            if b < 0 or size[a] == 0:
                break
            if size[b] == 0 or (changed[a] <= since and changed[b] <= since):
                continue
            for _ in range(STEPS):
                between(groups, a, b, lanes, near)
                from_a, from_b = best_step(groups, k, a, b, near, here)
                if from_a < 0 and from_b < 0:
                    break
                step(groups, a, b, from_a, from_b)
                clock += 1
                changed[a], changed[b] = clock, clock
    return clock


@tight
def room(groups: Groups, k: int, row: Ints, i: int) -> tuple[int, float]:
    """The group of `row` with room where record `i` costs least, and that cost; -1 if none."""
    rows, metric, members, size = groups.rows, groups.metric, groups.members, groups.size
    centre, within = groups.centre, groups.within
    best, least = -1, np.inf
    for n in range(len(row)):
        b = row[n]
        if b < 0 or size[b] == 0 or size[b] == 2 * k - 1:
            continue
        rise = e(rows, metric, members, size, centre, within, i, b)
        rise *= size[b] / (size[b] + 1.0)
        if rise < least:
            best, least = b, rise
    return best, least


@tight
def dissolve(groups: Groups, k: int, lists: Ints, changed: Ints, clock: int, went: Ints) -> int:
    """Spread the members of a group over its neighbours wherever that lowers the cost.

    Looks at all groups that have changed since `clock`; `went` is scratch (2k - 1,). Members go
    one by one, each where it then costs least, and all come back if it was not worth it.
    Returns the number of groups dissolved.
    """
    members, size, done = groups.members, groups.size, 0
    for a in range(len(size)):
        if size[a] == 0 or changed[a] < clock:
            continue
        spent, budget = 0.0, cost(groups, a) * (1.0 - SURE)
        for m in range(size[a]):
            spent += room(groups, k, lists[a], members[a, m])[1]
            if spent >= budget:
                break
        if spent >= budget:
            continue
        spent, gone = 0.0, 0
        while gone < size[a]:
            b, rise = room(groups, k, lists[a], members[a, gone])
            spent += rise
            if b < 0 or spent >= budget:
                break
            members[b, size[b]] = members[a, gone]
            size[b] += 1
            settle(groups, b)
            went[gone] = b
            gone += 1
        if gone == size[a]:
            for m in range(gone):
                changed[went[m]] = clock + 1
            size[a] = 0
            done += 1
            continue
        for m in range(gone - 1, -1, -1):
            size[went[m]] -= 1
            settle(groups, went[m])
        settle(groups, a)
    return done
