"""Local search: swap, move and dissolve between neighbouring groups while the cost falls."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import apart
from sparkanon.numeric.groups import Groups, cost, e, settle
from sparkanon.numeric.jit import tight
from sparkanon.numeric.records import Floats

STEPS = 16  # between two groups before the next pair has its turn
SURE = 1e-9  # a step must lower the cost by this part of the terms it is made of


@tight
def best_step(
    groups: Groups, capped: bool, k: int, a: int, b: int, here: Floats, there: Floats, v: float
) -> tuple[int, int]:
    """The best step between the groups `a` and `b` as (slot in a, slot in b), or (-1, -1).

    A slot is -1 where nobody comes back: a move. there[m] is e(member m of a, b), here[o] is
    e(member o of b, a), `v` the most that any member of b can add to a gain (see `search`).
    O(size^2 d) at worst.
    """
    rows, members, own, caps = groups.rows, groups.members, groups.own, groups.caps
    size_a, size_b = groups.size[a], groups.size[b]
    best, from_a, from_b = 0.0, -1, -1
    share = 1.0 / size_a + 1.0 / size_b
    for m in range(size_a):
        i = members[a, m]
        if size_a > k and size_b < 2 * k - 1:
            gain = own[i] * size_a / (size_a - 1) - there[m] * size_b / (size_b + 1)
            if gain > best and gain > SURE * (own[i] + there[m]):
                best, from_a, from_b = gain, m, -1
        if (1.0 + share) * own[i] - (1.0 - share) * there[m] + v <= best:
            continue
        for o in range(size_b):
            j = members[b, o]
            gain = own[i] - there[m] + own[j] - here[o]
            # d(i, j) is at most 2 e(i, g) + 2 e(j, g), for both groups
            most = 2.0 * min(own[i] + here[o], there[m] + own[j])
            if gain + share * most <= best:
                continue
            gain += share * apart(rows, i, rows, j, caps, capped)
            if gain > best and gain > SURE * (own[i] + there[m] + own[j] + here[o]):
                best, from_a, from_b = gain, m, o
    if size_b > k and size_a < 2 * k - 1:
        for o in range(size_b):
            j = members[b, o]
            gain = own[j] * size_b / (size_b - 1) - here[o] * size_a / (size_a + 1)
            if gain > best and gain > SURE * (own[j] + here[o]):
                best, from_a, from_b = gain, -1, o
    return from_a, from_b


@tight
def step(groups: Groups, capped: bool, a: int, b: int, from_a: int, from_b: int) -> None:
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
    settle(groups, capped, a)
    settle(groups, capped, b)


@tight
def search(
    groups: Groups, capped: bool, k: int, lists: Ints, changed: Ints, seen: Ints, clock: int,
    here: Floats, there: Floats,
) -> int:  # fmt: skip
    """One pass over all pairs of neighbours of which one has changed since they were last seen.

    `changed` and `seen` (groups,) hold the time of the last change of a group and of the last
    look at its list. Returns the time after the pass, a tick for every step.

    Most pairs have nothing to gain. With d(i, j) at most the sum of the four e's involved, a swap
    gains at most u(i) + u(j), u = (1 + s) e(own) - (1 - s) e(other), s = 1 / a + 1 / b: O(size d).
    Moves are looked at wherever sizes allow one.
    """
    members, own, size = groups.members, groups.own, groups.size
    centre, top, within = groups.centre, groups.top, groups.within
    rows, caps = groups.rows, groups.caps
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
                share = 1.0 / size[a] + 1.0 / size[b]
                u, v = -np.inf, (1.0 + share) * top[b]
                for m in range(size[a]):
                    i = members[a, m]
                    there[m] = e(rows, caps, members, size, centre, within, capped, i, b)
                    u = max(u, (1.0 + share) * own[i] - (1.0 - share) * there[m])
                if not capped:  # the nearest a member of b can be to the centroid of a
                    gap = np.sqrt(apart(centre, a, centre, b, caps, False))
                    gap = max(gap - np.sqrt(top[b]), 0.0)
                    v -= (1.0 - share) * gap * gap
                if u + v <= 0.0 and size[a] == size[b] == k:
                    break
                v = -np.inf
                for m in range(size[b]):
                    i = members[b, m]
                    here[m] = e(rows, caps, members, size, centre, within, capped, i, a)
                    v = max(v, (1.0 + share) * own[i] - (1.0 - share) * here[m])
                if u + v <= 0.0 and size[a] == size[b] == k:
                    break
                from_a, from_b = best_step(groups, capped, k, a, b, here, there, v)
                if from_a < 0 and from_b < 0:
                    break
                step(groups, capped, a, b, from_a, from_b)
                clock += 1
                changed[a], changed[b] = clock, clock
    return clock


@tight
def room(groups: Groups, capped: bool, k: int, row: Ints, i: int) -> tuple[int, float]:
    """The group of `row` with room where record `i` costs least, and that cost; -1 if none."""
    rows, caps, members, size = groups.rows, groups.caps, groups.members, groups.size
    centre, within = groups.centre, groups.within
    best, least = -1, np.inf
    for n in range(len(row)):
        b = row[n]
        if b < 0 or size[b] == 0 or size[b] == 2 * k - 1:
            continue
        rise = e(rows, caps, members, size, centre, within, capped, i, b)
        rise *= size[b] / (size[b] + 1.0)
        if rise < least:
            best, least = b, rise
    return best, least


@tight
def dissolve(
    groups: Groups, capped: bool, k: int, lists: Ints, changed: Ints, clock: int, went: Ints
) -> int:
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
            spent += room(groups, capped, k, lists[a], members[a, m])[1]
        if spent >= budget:
            continue
        spent, gone = 0.0, 0
        while gone < size[a]:
            b, rise = room(groups, capped, k, lists[a], members[a, gone])
            spent += rise
            if b < 0 or spent >= budget:
                break
            members[b, size[b]] = members[a, gone]
            size[b] += 1
            settle(groups, capped, b)
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
            settle(groups, capped, went[m])
        settle(groups, capped, a)
    return done
