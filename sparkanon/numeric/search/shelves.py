"""Linkage between boxes, for cells that cover many values: how many are as near as the own one.

The distance from a query to its own counterpart is known. So the search only has to find out
whether any other is nearer, which ends it, and how many are as near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Bools, Floats
from sparkanon.numeric.search.boxes import (
    ROUNDING,
    Boxes,
    Longs,
    Yard,
    apart,
    hull_distances,
    some,
)
from sparkanon.numeric.search.index import LANES, whole
from sparkanon.numeric.search.slabs import cut

BUCKET = 64  # reference boxes
TOGETHER = 32  # queries that share one look at all buckets


class Shelves(NamedTuple):
    """Reference boxes in buckets of neighbours."""

    low: Floats  # (buckets, d, width)
    high: Floats
    ids: Ints  # (buckets, width)
    weight: Longs  # (buckets, width) records that a box stands for
    held: Ints  # (buckets,)
    total: Longs  # (buckets,) weight of a whole bucket
    with_sets: Bools  # (buckets,)
    low_least: Floats  # (d, buckets) hull of a bucket
    high_most: Floats
    low_most: Floats  # (d, buckets) a box that begins at or below high_least and ends at or above
    high_least: Floats  # low_most overlaps every box of the bucket
    middle: Floats  # (d, buckets) places as in `places`


class Scratch(NamedTuple):
    """Scratch arrays for a group of queries."""

    low: Floats  # (d, buckets) hulls of the buckets it has to look at
    high: Floats
    bound: Floats  # (buckets,)
    near: Floats  # (width,) distances in a bucket


@dataclass(frozen=True)
class Near:
    """For every query: whether one is nearer than its own, and if not, how many are as near."""

    lost: Bools
    ties: Longs


def places(boxes: Boxes, yard: Yard) -> Floats:
    """(d, n) points that stand for the boxes when neighbours are put together."""
    low, high = boxes.low, boxes.high
    from_low, from_high = np.isfinite(low), np.isfinite(high)
    middle = np.where(from_low, low, high)
    both = from_low & from_high
    middle[both] = low[both] / 2 + high[both] / 2
    middle[~from_low & ~from_high] = 0.0
    return np.ascontiguousarray(middle * yard.factor[:, np.newaxis])


def arranged(boxes: Boxes, yard: Yard, size: int) -> tuple[Longs, Ints, Floats]:
    """Parts of at most `size` neighbours: (order, bounds of the parts, places).

    Boxes that are suppressed in the same coordinates come together first: one suppressed cell
    makes the hull of its part endless in that coordinate.
    """
    at, endless = places(boxes, yard), np.isinf(boxes.low) & np.isinf(boxes.high)
    metric = Metric(yard.cap, yard.capped, np.zeros(len(at), np.bool_))
    order, bounds = [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
    todo, done = [np.arange(boxes.n)], 0
    while todo:
        rows = todo.pop()
        share = endless[:, rows].mean(axis=1) if len(rows) > size else np.zeros(1)
        mixed = np.minimum(share, 1.0 - share)
        j = int(np.argmax(mixed))
        if mixed[j] > 0:
            apart_ = endless[j, rows]
            todo += [rows[apart_], rows[~apart_]]
        elif len(rows):
            local, ends = cut(np.ascontiguousarray(at[:, rows]), metric, size)
            order.append(rows[local])
            bounds.append(ends[1:].astype(np.int64) + done)
            done += len(rows)
    return np.concatenate(order), np.concatenate(bounds).astype(np.int32), at


@kernel
def fill(boxes: Boxes, order: Longs, bounds: Ints, weight: Longs, at: Floats) -> Shelves:
    """Shelves of the parts between `bounds`; O(n d)."""
    d, buckets = boxes.low.shape[0], len(bounds) - 1
    held = bounds[1:] - bounds[:-1]
    width = (held.max() + LANES - 1) // LANES * LANES
    low, high = np.zeros((buckets, d, width)), np.zeros((buckets, d, width))
    ids, weights = np.zeros((buckets, width), np.int32), np.zeros((buckets, width), np.int64)
    total, with_sets = np.zeros(buckets, np.int64), np.zeros(buckets, np.bool_)
    low_least, high_most = np.full((d, buckets), np.inf), np.full((d, buckets), -np.inf)
    low_most, high_least = np.full((d, buckets), -np.inf), np.full((d, buckets), np.inf)
    middle = np.zeros((d, buckets))
    for b in range(buckets):
        for i in range(held[b]):
            one = order[bounds[b] + i]
            ids[b, i], weights[b, i] = one, weight[one]
            total[b] += weight[one]
            with_sets[b] |= boxes.with_sets[one]
            for j in range(d):
                first, last = boxes.low[j, one], boxes.high[j, one]
                low[b, j, i], high[b, j, i] = first, last
                low_least[j, b] = min(low_least[j, b], first)
                high_most[j, b] = max(high_most[j, b], last)
                low_most[j, b] = max(low_most[j, b], first)
                high_least[j, b] = min(high_least[j, b], last)
                middle[j, b] += at[j, one] / held[b]
    return Shelves(
        low, high, ids, weights, held, total, with_sets, low_least, high_most, low_most,
        high_least, middle,
    )  # fmt: skip


@tight
def touches_all(shelves: Shelves, b: int, start: Floats, end: Floats) -> bool:
    """Whether the box start..end has no gap to any box of bucket `b`."""
    for j in range(len(start)):
        if start[j] > shelves.high_least[j, b] or shelves.low_most[j, b] > end[j]:
            return False
    return not shelves.with_sets[b]


@tight
def look(
    shelves: Shelves, chosen: Ints, scratch: Scratch, yard: Yard, released: Boxes,
    original: Boxes, original_asks: bool, query: int, start: Floats, end: Floats, own: float,
) -> int:  # fmt: skip
    """Records as near as `own` in the `chosen` buckets; -1 if one is nearer."""
    plain = original_asks or not released.with_sets[query]
    nearer, reach = own * (1.0 - ROUNDING), own * (1.0 + ROUNDING)
    ties = 0
    hull_distances(scratch.low, scratch.high, len(chosen), yard, start, end, scratch.bound)
    for c in range(len(chosen)):
        if scratch.bound[c] > reach:
            continue
        b = chosen[c]
        if own == 0.0 and plain and touches_all(shelves, b, start, end):
            ties += shelves.total[b]
            continue
        width = whole(shelves.held[b])
        hull_distances(shelves.low[b], shelves.high[b], width, yard, start, end, scratch.near)
        for i in range(shelves.held[b]):
            near = scratch.near[i]
            if near > reach:
                continue
            if original_asks and released.with_sets[shelves.ids[b, i]]:
                near = apart(released, shelves.ids[b, i], original, query, yard)
            elif not plain:
                near = apart(released, query, original, shelves.ids[b, i], yard)
            if near < nearer:
                return -1
            if near <= reach:
                ties += shelves.weight[b, i]
    return ties


@kernel
def search(
    shelves: Shelves, yard: Yard, released: Boxes, original: Boxes, original_asks: bool,
    order: Longs, bounds: Ints, at: Floats, own: Floats, ties: Longs,
) -> None:  # fmt: skip
    """Fill `ties` of the queries, -1 where one is nearer than `own`, in groups of neighbours."""
    asking = original if original_asks else released
    d, buckets = shelves.low_least.shape
    start, end, centre = np.empty(d), np.empty(d), np.empty(d)
    gap, to_middle = np.empty(buckets), np.empty(buckets)
    straight = Metric(np.ones(d), False, np.zeros(d, np.bool_))
    scratch = Scratch(
        np.empty((d, buckets)), np.empty((d, buckets)), np.empty(buckets),
        np.empty(shelves.low.shape[2]),
    )  # fmt: skip
    listed = np.empty(buckets, np.int32)
    for g in range(len(bounds) - 1):
        group = order[bounds[g] : bounds[g + 1]]
        limit = 0.0
        start[:], end[:], centre[:] = np.inf, -np.inf, 0.0
        for query in group:
            limit = max(limit, own[query] * (1.0 + ROUNDING))
            for j in range(d):
                start[j] = min(start[j], asking.low[j, query])
                end[j] = max(end[j], asking.high[j, query])
                centre[j] += at[j, query] / len(group)
        hull_distances(shelves.low_least, shelves.high_most, buckets, yard, start, end, gap)
        count = 0
        for b in range(buckets):
            if gap[b] <= limit:
                listed[count] = b
                count += 1
        chosen = listed[:count]
        if limit > 0.0:  # those first that may hold a nearer one
            distances(shelves.middle, straight, centre, buckets, to_middle)
            chosen = chosen[np.argsort(to_middle[chosen])]
        for j in range(d):
            for c in range(count):
                scratch.low[j, c] = shelves.low_least[j, chosen[c]]
                scratch.high[j, c] = shelves.high_most[j, chosen[c]]
        for query in group:
            start[:], end[:] = asking.low[:, query], asking.high[:, query]
            ties[query] = look(
                shelves, chosen, scratch, yard, released, original, original_asks, query, start,
                end, own[query],
            )  # fmt: skip


def near(
    released: Boxes, original: Boxes, yard: Yard, original_asks: bool, weight: Longs, asks: Longs,
    own: Floats,
) -> Near:  # fmt: skip
    """Search the boxes of one side, all of them, for the neighbours of some of the other.

    Parameters
    ----------
    original_asks : originals look for released boxes, else the other way round
    weight : (reference boxes,) records that each stands for
    asks : the boxes that look for their own
    own : (boxes of the asking side,) distance to the own one, finite for all that ask
    """
    asking, reference = (original, released) if original_asks else (released, original)
    ties = np.zeros(asking.n, np.int64)
    if reference.n and len(asks):
        order, bounds, at = arranged(reference, yard, BUCKET)
        weight = np.require(weight, np.int64, ["C", "W"])
        shelves = fill(reference, order, bounds, weight, at)
        order, bounds, at = arranged(some(asking, asks), yard, TOGETHER)
        at_all = np.zeros(asking.low.shape)
        at_all[:, asks] = at
        own = np.require(own, np.float64, ["C", "W"])
        search(
            shelves, yard, released, original, original_asks, asks[order], bounds, at_all, own,
            ties,
        )  # fmt: skip
    return Near(ties[asks] < 0, np.maximum(ties[asks], 0))
