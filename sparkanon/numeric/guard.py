"""What a group must keep besides its size: l-diversity and t-closeness of sensitive columns.

The definitions are those of `measures/diversity.py`, which is written apart from this file on
purpose: the staged table is verified with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Bools, Floats

DISTINCT, ENTROPY, RECURSIVE, CLOSE, CLOSE_ORDERED = range(5)
NEARLY = 4e-10  # the measures are rounded to 9 digits before they are compared

Codes = npt.NDArray[np.int64]


class Guard(NamedTuple):
    """Rules, one a row. Without rules every group is fine."""

    codes: Codes  # (rules, n) values of the sensitive column as 0..m-1, in its order
    kind: Codes  # (rules,)
    limit: Floats  # (rules,) l, or t
    c: Floats  # (rules,) of recursive (c, l)-diversity
    share: Floats  # (rules, m) of each value in the table
    below: Floats  # (rules, m) shares added up
    area: Floats  # (rules, m + 1) `below` added up, from 0
    values: Codes  # (rules,) m of the column


def no_guard() -> Guard:
    none, numbers = np.empty(0, np.int64), np.empty(0)
    wide, few = np.empty((0, 0)), np.empty((0, 0), np.int64)
    return Guard(few, none, numbers, numbers, wide, wide, wide, none)


@kernel
def emd(found: Codes, share: Floats) -> float:
    """Earth mover's distance of a group from the table, all values equally far apart.

    `found` are the group's codes in order. O(size).
    """
    size, total, first = len(found), 0.0, 0
    for a in range(1, size + 1):
        if a == size or found[a] != found[first]:
            total += max(0.0, (a - first) / size - share[found[first]])
            first = a
    return total


@kernel
def emd_ordered(found: Codes, below: Floats, area: Floats, m: int) -> float:
    """The same for values at distance |rank - rank| / (m - 1); O(size log m).

    Between two of the group's values its cumulated share stands still while the table's rises
    from under it to above it: two areas instead of a look at every value.
    """
    if m == 1:
        return 0.0
    size = len(found)
    total = area[found[0]]
    for a in range(size):
        if a + 1 < size and found[a + 1] == found[a]:
            continue
        begin, end = found[a], m if a + 1 == size else found[a + 1]
        own = (a + 1) / size
        turn = begin + np.searchsorted(below[begin:end], own)
        total += own * (turn - begin) - (area[turn] - area[begin])
        total += area[end] - area[turn] - own * (end - turn)
    return float(total / (m - 1))


@kernel
def diverse(found: Codes, kind: int, least: float, c: float) -> bool:
    """Whether a group, its codes in order, has l-diversity; O(size log size)."""
    size = len(found)
    counts, runs, first, entropy = np.zeros(size, np.int64), 0, 0, np.log(size)
    for a in range(1, size + 1):
        if a == size or found[a] != found[first]:
            counts[runs] = a - first
            entropy -= (a - first) * np.log(a - first) / size
            runs += 1
            first = a
    if kind == DISTINCT:
        return runs >= least
    if kind == ENTROPY:
        return bool(np.exp(entropy) >= least - NEARLY)
    if runs < least:
        return False
    counts = np.sort(counts[:runs])
    tail = counts[: runs - int(least) + 1].sum()
    return bool(counts[runs - 1] < c * tail)


@kernel
def holds(guard: Guard, members: Ints) -> bool:
    """Whether the group of these records keeps every rule; O(rules size log size)."""
    found = np.empty(len(members), np.int64)
    for r in range(len(guard.kind)):
        for a in range(len(members)):
            found[a] = guard.codes[r, members[a]]
        found.sort()
        kind, limit, m = guard.kind[r], guard.limit[r], guard.values[r]
        if kind == CLOSE:
            fine = emd(found, guard.share[r]) <= limit + NEARLY
        elif kind == CLOSE_ORDERED:
            far = emd_ordered(found, guard.below[r], guard.area[r], m)
            fine = far <= limit + NEARLY
        else:
            fine = diverse(found, kind, limit, guard.c[r])
        if not fine:
            return False
    return True


@kernel
def broken(guard: Guard, members: Ints, bounds: Ints) -> Bools:
    """Which groups, the stretches of `members` between `bounds`, break a rule."""
    found = np.zeros(len(bounds) - 1, np.bool_)
    for g in range(len(found)):
        found[g] = not holds(guard, members[bounds[g] : bounds[g + 1]])
    return found
