"""The k nearest records of a point in an index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import tight
from sparkanon.numeric.metric import Metric, Reals
from sparkanon.numeric.search.index import Index, box_nearest, whole

STRETCH = 32  # bounds that are looked at together


class Best(NamedTuple):
    """The nearest records found so far: a max-heap by (distance, id)."""

    near: Reals  # (count,) distances
    at: Ints  # (count,) positions
    ids: Ints  # (count,) records


@tight
def before(best: Best, a: int, near: float, record: int) -> bool:
    """Whether entry `a` of the heap comes before (near, record)."""
    return bool(best.near[a] < near or (best.near[a] == near and best.ids[a] < record))


@tight
def offer(best: Best, near: float, position: int, record: int) -> None:
    """Replace the worst of the heap by this record; O(log count)."""
    a, size = 0, len(best.at)
    while 2 * a + 1 < size:
        child = 2 * a + 1
        if child + 1 < size and before(best, child, best.near[child + 1], best.ids[child + 1]):
            child += 1
        if before(best, child, near, record):
            break
        best.near[a], best.at[a], best.ids[a] = best.near[child], best.at[child], best.ids[child]
        a = child
    best.near[a], best.at[a], best.ids[a] = near, position, record


@tight
def least(values: Reals, bits: Reals, low: int, high: int) -> float:
    """The least of values[low:high], none of them negative, found through their bits.

    `bits` are the same numbers seen as integers: their order is the same, but a minimum of
    integers may be taken in any order and is vectorised.
    """
    found = bits[low]
    for i in range(low, high):
        found = min(found, bits[i])
    kept = bits[low]
    bits[low] = found
    number = values[low]
    bits[low] = kept
    return float(number)


@tight
def looked_at(turn: int, home: int, buckets: int) -> tuple[int, int]:
    """The buckets (low, high) that a search looks at in this turn; turns go from -2.

    The bucket `home` of the point comes first, then the stretch around it, because neighbours in
    space were cut apart last, then all other stretches: the first visits set a low limit.
    """
    if turn == -2:
        return home, home + 1
    own = home // STRETCH
    low = (own if turn == -1 else turn) * STRETCH
    return low, low if turn == own else min(low + STRETCH, buckets)


@tight
def nearest(
    index: Index, buckets: int, metric: Metric, slack: float, seed: int, point: Reals, best: Best
) -> None:
    """Fill `best` with the records nearest to `point`, which stands at position `seed`.

    Exact with slack 1, ties by lower id, the seed itself always among them. A larger slack
    passes over buckets that can only be better by less than this factor. One long loop: to hand
    the index to another function costs more than a visit of a bucket.
    """
    values, ids, block, held = index.values, index.ids, index.block, index.held
    bound, bound_bits, near, near_bits = index.bound, index.bound_bits, index.near, index.near_bits
    width = values.shape[2]
    best.near[:] = np.inf
    best.ids[:] = len(ids)
    box_nearest(index, buckets, metric, point)
    home = index.bucket[seed // width]
    limit = np.inf
    for turn in range(-2, (buckets + STRETCH - 1) // STRETCH):
        low, high = looked_at(turn, home, buckets)
        if least(bound, bound_bits, low, high) > limit:
            continue
        for b in range(low, high):
            if bound[b] > limit or held[b] == 0 or (b == home and turn > -2):
                continue
            count = whole(held[b])
            distances(values[block[b]], metric, point, count, near)
            if least(near, near_bits, 0, count) > best.near[0]:
                continue
            first = block[b] * width
            for i in range(held[b]):
                if near[i] <= best.near[0] and not before(best, 0, near[i], ids[first + i]):
                    offer(best, near[i], first + i, ids[first + i])
            limit = best.near[0] / slack
    for a in range(len(best.at)):
        if best.at[a] == seed:
            return
    best.at[0] = seed  # more than k records at distance 0, the seed's id is not the lowest
