"""What a group must keep besides its size: l-diversity and t-closeness of sensitive columns.

The definitions are those of `measures/diversity.py`, which is written apart from this file on
purpose: the staged table is verified with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Bools, Floats

DISTINCT, ENTROPY, RECURSIVE, CLOSE, CLOSE_ORDERED = range(5)
NEARLY = 4e-10  # the measures are rounded to 9 digits before they are compared

Codes = npt.NDArray[np.int64]


class Rule(NamedTuple):
    """What every group must keep of one sensitive column."""

    kind: int
    limit: float  # l, or t
    c: float  # of recursive (c, l)-diversity
    codes: Codes  # (n,) values as 0..m-1, in their order if that counts
    counts: Codes  # (m,) how often each occurs in the table; for t-closeness
    nulls: bool = False  # whether the last code of an ordered column stands for null


class Guard(NamedTuple):
    """Rules, one a row. Without rules every group is fine."""

    codes: Codes  # (rules, n)
    kind: Codes  # (rules,)
    limit: Floats  # (rules,)
    c: Floats  # (rules,)
    share: Floats  # (rules, m) of each value in the table
    below: Floats  # (rules, m) shares of the known values among themselves, added up
    area: Floats  # (rules, m + 1) `below` added up, from 0
    known: Codes  # (rules,) values that are no null
    missing: Floats  # (rules,) share of nulls, of ordered columns only


def make_guard(rules: Sequence[Rule]) -> Guard:
    width = max((len(rule.counts) for rule in rules), default=0)
    share, known = np.zeros((len(rules), width)), np.zeros((len(rules), width))
    for r, rule in enumerate(rules):
        m = len(rule.counts)
        share[r, :m] = rule.counts / rule.counts.sum()
        last = m - 1 if rule.nulls else m
        known[r, :last] = rule.counts[:last] / max(rule.counts[:last].sum(), 1)
    below = np.cumsum(known, axis=1)
    ends = [len(rule.counts) - (1 if rule.nulls else 0) for rule in rules]
    return Guard(
        codes=np.stack([rule.codes for rule in rules]) if rules else np.empty((0, 0), np.int64),
        kind=np.array([rule.kind for rule in rules], np.int64),
        limit=np.array([rule.limit for rule in rules], np.float64),
        c=np.array([rule.c for rule in rules], np.float64),
        share=share,
        below=below,
        area=np.concatenate([np.zeros((len(rules), 1)), np.cumsum(below, axis=1)], axis=1),
        known=np.array(ends, np.int64),
        missing=np.array([share[r, end] if rules[r].nulls else 0.0 for r, end in enumerate(ends)]),
    )


def no_guard() -> Guard:
    return make_guard(())


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
def emd_known(found: Codes, below: Floats, area: Floats, known: int, missing: float) -> float:
    """The same where codes from `known` on are nulls, which are 1 from every number.

    The difference in the share of nulls is moved at distance 1, the rest among the numbers.
    """
    size = len(found)
    numbers = np.searchsorted(found, known)
    nulls = (size - numbers) / size
    far = emd_ordered(found[:numbers], below, area, known) if numbers > 0 else 0.0
    return abs(nulls - missing) + min(1.0 - nulls, 1.0 - missing) * far


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
        kind, limit = guard.kind[r], guard.limit[r]
        if kind == CLOSE:
            fine = emd(found, guard.share[r]) <= limit + NEARLY
        elif kind == CLOSE_ORDERED:
            below, area, known = guard.below[r], guard.area[r], guard.known[r]
            far = emd_known(found, below, area, known, guard.missing[r])
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
