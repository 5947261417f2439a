"""Dense neighbourhoods first: DBA, Lin, Wen, Hsieh and Chang 2010, for any distance."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import added
from sparkanon.numeric.group.around import join
from sparkanon.numeric.group.loose import second_phase, spread
from sparkanon.numeric.group.mdav import FRESH, buckets_of
from sparkanon.numeric.group.peel import positions
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.search.index import Index, compact
from sparkanon.numeric.search.nearest import Best, nearest

ROUNDING = 1e-9  # lowers a bound, which is added up in another order than the sum itself


class Neighbourhoods(NamedTuple):
    """The k nearest remaining records of every record, and in which neighbourhoods it is.

    Slot a * k + m holds member m of the neighbourhood of a. Slots that hold the same record are
    chained: first[record], after[first[record]], ... up to -1.
    """

    members: Ints  # (n, k)
    first: Ints  # (n,)
    after: Ints  # (n * k,)
    radius: Floats  # (n,) distance to the furthest member, when last looked for
    looseness: Floats  # (n,) the inverse of the k-density, or a lower bound of it
    exact: Bools  # (n,) which of the two


@tight
def settle(
    values: Floats, metric: Metric, hoods: Neighbourhoods, labels: Ints, a: int, middle: Floats
) -> None:
    """Looseness of `a` from those members that remain; a lower bound if some do not. O(k d).

    The sum of squared distances of the members to their centroid; for a capped distance, of the
    distances to `a`. Whoever replaces a lost member is at least `radius` from `a`.
    """
    members, total, left, off = hoods.members[a], 0.0, 0, 0.0
    capped = metric.capped
    middle[:] = 0.0
    for i in members:
        if labels[i] >= 0:
            continue
        left += 1
        for j in range(len(values)):
            if capped:
                total += added(metric, j, values[j, i], values[j, a])
            else:
                middle[j] += values[j, i]
    if not capped:
        for j in range(len(values)):
            middle[j] /= left
            gap = values[j, a] - middle[j]
            off += gap * gap
            for i in members:
                if labels[i] < 0:
                    gap = values[j, i] - middle[j]
                    total += gap * gap
    lost = len(members) - left
    if lost > 0:
        more = lost * hoods.radius[a]
        if not capped:
            gap = max(np.sqrt(hoods.radius[a]) - np.sqrt(off), 0.0)
            more = gap * gap * left / (left + 1)
        if more > 0.0:  # not where numbers overflow
            total += more
        total *= 1.0 - ROUNDING
    hoods.looseness[a], hoods.exact[a] = total, lost == 0


@tight
def look(
    index: Index, buckets: int, values: Floats, metric: Metric, where: Ints, hoods: Neighbourhoods,
    labels: Ints, a: int, best: Best, point: Floats, here: Ints,
) -> None:  # fmt: skip
    """Replace the members of the neighbourhood of `a` that are gone; the others keep their slot.

    `here` (n,) is scratch, a mark on the members that remain.
    """
    members, k = hoods.members[a], len(best.at)
    for j in range(len(point)):
        point[j] = values[j, a]
    nearest(index, buckets, metric, 1.0, where[a], point, best)
    hoods.radius[a] = 0.0
    for near in best.near:
        hoods.radius[a] = max(hoods.radius[a], near)
    for i in members:
        if i >= 0 and labels[i] < 0:
            here[i] = a
    slot = 0
    for at in best.at:
        i = index.ids[at]
        if here[i] == a:
            continue
        while members[slot] >= 0 and labels[members[slot]] < 0:
            slot += 1
        members[slot] = i
        hoods.after[a * k + slot], hoods.first[i] = hoods.first[i], a * k + slot
        slot += 1
    for i in members:
        here[i] = -1


@kernel
def densest_first(index: Index, values: Floats, metric: Metric, k: int) -> Ints:
    """Group the densest k-neighbourhood of what remains, again and again.

    Labels 0, 1, ... of the records of `values` (d, n), which `index` holds; -1 of the fewer than
    k that are left over. A neighbourhood that lost members has a lower bound of its looseness
    and is looked for again only when this bound is the least. Memory O(n k).
    """
    d, n = values.shape
    hoods = Neighbourhoods(
        np.full((n, k), -1, np.int32), np.full(n, -1, np.int32), np.full(n * k, -1, np.int32),
        np.zeros(n), np.zeros(n), np.zeros(n, np.bool_),
    )  # fmt: skip
    labels, label, left, seen, buckets = np.full(n, -1, np.int32), 0, n, n, len(index.held)
    where, here, hit = positions(index, n), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    best = Best(np.empty(k), np.empty(k, np.int32), np.empty(k, np.int32))
    point, middle, group = np.empty(d), np.empty(d), np.empty(k, np.int32)
    heap = [(0.0, a) for a in range(n)]
    while left >= k:
        if buckets > 1 and left < FRESH * seen:
            buckets, seen = compact(index, buckets), left
        looseness, a = heapq.heappop(heap)
        if labels[a] >= 0 or looseness != hoods.looseness[a]:
            continue
        if not hoods.exact[a]:
            look(index, buckets, values, metric, where, hoods, labels, a, best, point, here)
            settle(values, metric, hoods, labels, a, middle)
            heapq.heappush(heap, (hoods.looseness[a], a))
            continue
        for m in range(k):
            i = hoods.members[a, m]
            labels[i] = label
            join(index, buckets, where[i], where, group, m)
        for i in group:
            slot = hoods.first[i]
            while slot >= 0:
                other = slot // k
                if labels[other] < 0 and hit[other] < label:
                    hit[other] = label
                    settle(values, metric, hoods, labels, other, middle)
                    heapq.heappush(heap, (hoods.looseness[other], other))
                slot = hoods.after[slot]
        left -= k
        label += 1
    return labels


def dba(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    O(n^2 d) for the neighbourhoods at worst, a few per cent of it with boxes.
    """
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    labels = densest_first(buckets_of(values, metric), values, metric, k)
    return spread(values, metric, labels, k)


def dba2(values: Floats, metric: Metric, k: int) -> Ints:
    """`dba` and its second phase, in which groups may grow without limit; O(n^2 d / k)."""
    labels = dba(values, metric, k)
    return second_phase(values, metric, labels, k, values.shape[1])
