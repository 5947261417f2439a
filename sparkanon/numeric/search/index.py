"""Buckets of neighbouring records with bounding boxes: nearest and furthest without a full scan.

Box and record distances are computed with the same operations in the same order. Rounding is
monotone, so a bound is never on the wrong side of a distance and a search is exact, ties included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import added, box_ends, box_gaps, distances, from_length, length
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric, Reals

LANES = 16  # records: blocks are padded to whole vectors, so that no loop has a slow rest
ROUNDING = 1.00001  # raises bounds by the triangle inequality, which rounding may make too low


class Index(NamedTuple):
    """Records in buckets; taken ones are swapped behind the remaining ones of their bucket.

    A position is block * width + slot. Buckets are numbered anew when empty ones are dropped,
    blocks stay where they are.
    """

    values: Reals  # (blocks, d, width): all that a visit reads is contiguous; inf where empty
    ids: Ints  # (blocks * width,) record at a position
    low: Reals  # (d, buckets) box
    high: Reals
    block: Ints  # (buckets,) where the records of a bucket are
    bucket: Ints  # (blocks,) the inverse
    held: Ints  # (buckets,) records that remain
    hub: Reals  # (d,) a point in the middle
    reach: Reals  # (buckets,) largest distance of a record to the hub, as a length
    bound: Reals  # (buckets,) scratch: bounds of a search
    bound_bits: Reals  # the same memory as integers
    near: Reals  # (width,) scratch: distances in a bucket
    near_bits: Reals


@kernel
def make_index(values: Reals, order: Ints, bounds: Ints, kind: Reals, bits: Reals) -> Index:
    """Index over `values` (d, n), whose record order[i] stands at i, parts between `bounds`.

    Kept in the type of `kind`, seen as integers in the type of `bits`. O(n d).
    """
    d, buckets = values.shape[0], len(bounds) - 1
    count = bounds[1:] - bounds[:-1]
    width = (count.max() + LANES - 1) // LANES * LANES
    blocks = np.full((buckets, d, width), np.inf).astype(kind.dtype)
    ids = np.zeros(buckets * width, np.int32)
    low, high = np.empty((d, buckets), kind.dtype), np.empty((d, buckets), kind.dtype)
    for b in range(buckets):
        ids[b * width : b * width + count[b]] = order[bounds[b] : bounds[b + 1]]
        for j in range(d):
            for i in range(count[b]):
                blocks[b, j, i] = values[j, bounds[b] + i]
    block = np.arange(buckets).astype(np.int32)
    hub, reach = np.zeros(d, kind.dtype), np.full(buckets, np.inf).astype(kind.dtype)
    bound, near = np.empty(buckets, kind.dtype), np.empty(width, kind.dtype)
    index = Index(
        blocks, ids, low, high, block, block.copy(), count, hub, reach,
        bound, bound.view(bits.dtype), near, near.view(bits.dtype),
    )  # fmt: skip
    for b in range(buckets):
        for j in range(d):
            fit_box(index, b, j)
    return index


@tight
def fit_box(index: Index, b: int, j: int) -> None:
    """Draw side `j` of the box of bucket `b` around the records that remain in it; O(count)."""
    row = index.values[index.block[b], j]
    low, high = row[0], row[0]
    for i in range(1, index.held[b]):
        low = min(low, row[i])
        high = max(high, row[i])
    index.low[j, b], index.high[j, b] = low, high


@tight
def fit_reach(index: Index, b: int, metric: Metric) -> None:
    """How far the records that remain in bucket `b` are from the hub; O(count d)."""
    near = index.near
    distances(index.values[index.block[b]], metric, index.hub, index.held[b], near)
    furthest = near[0]
    for i in range(1, index.held[b]):
        furthest = max(furthest, near[i])
    index.reach[b] = length(metric, furthest)


@tight
def compact(index: Index, buckets: int) -> int:
    """Drop the empty ones of the first `buckets` buckets; returns how many are left."""
    kept = 0
    for b in range(buckets):
        if index.held[b] == 0:
            continue
        if kept < b:
            index.block[kept], index.held[kept] = index.block[b], index.held[b]
            index.reach[kept] = index.reach[b]
            index.bucket[index.block[b]] = kept
            for j in range(index.values.shape[1]):
                index.low[j, kept], index.high[j, kept] = index.low[j, b], index.high[j, b]
        kept += 1
    return kept


@tight
def take(index: Index, position: int, buckets: int) -> int:
    """Remove the record at `position`, shrink the box of its bucket; returns where it was put.

    A single bucket is always visited, so its box is left alone.
    """
    width = index.values.shape[2]
    b, slot = index.bucket[position // width], position % width
    index.held[b] -= 1
    last = index.held[b]
    records = index.values[index.block[b]]
    end = position - slot + last
    index.ids[position], index.ids[end] = index.ids[end], index.ids[position]
    for j in range(records.shape[0]):
        value = records[j, slot]
        records[j, slot] = records[j, last]
        records[j, last] = np.inf
        if buckets > 1 and (value == index.low[j, b] or value == index.high[j, b]):
            if last > 0:
                fit_box(index, b, j)
            else:  # no bound lets a search into an empty bucket
                index.low[j, b], index.high[j, b] = np.inf, -np.inf
    return int(end)


@tight
def whole(held: int) -> int:
    """A number of records, rounded up to whole vectors."""
    return (held + LANES - 1) // LANES * LANES


@tight
def box_nearest(index: Index, buckets: int, metric: Metric, point: Reals) -> None:
    """Lower bounds of the distances from `point` to the records of every bucket; O(buckets d)."""
    box_gaps(index.low, index.high, buckets, metric, point, point, index.bound)


@tight
def box_furthest(index: Index, buckets: int, metric: Metric, point: Reals) -> None:
    """Upper bounds of the distances from `point` to the records of every bucket; O(buckets d)."""
    out = index.bound
    box_ends(index.low, index.high, buckets, metric, point, out)
    to_hub = 0.0
    for j in range(len(point)):
        to_hub += added(metric, j, point[j], index.hub[j])
    to_hub = length(metric, to_hub)
    for b in range(buckets):
        out[b] = min(out[b], from_length(metric, to_hub + index.reach[b]) * ROUNDING)


@tight
def furthest(index: Index, buckets: int, metric: Metric, point: Reals) -> int:
    """Position of the record furthest from `point`, ties by lower id.

    The bucket with the largest bound goes first, then those whose bound is not below the best.
    """
    values, ids, block, held = index.values, index.ids, index.block, index.held
    bound, near, bits = index.bound, index.near, index.near_bits
    box_furthest(index, buckets, metric, point)
    top = 0
    for b in range(buckets):
        if held[b] == 0:
            bound[b] = -1.0
        if bound[b] > bound[top]:
            top = b
    best, found, record = -1.0, -1, -1
    for turn in range(-1, buckets):
        b = top if turn < 0 else turn
        if bound[b] < best or turn == top or held[b] == 0:
            continue
        distances(values[block[b]], metric, point, whole(held[b]), near)
        most = bits[0]
        for i in range(held[b]):  # as integers, as in `least`
            most = max(most, bits[i])
        kept = bits[0]
        bits[0] = most
        largest = near[0]
        bits[0] = kept
        if largest < best:
            continue
        first = block[b] * values.shape[2]
        for i in range(held[b]):
            if near[i] >= best and (near[i] > best or ids[first + i] < record):
                best, found, record = near[i], first + i, ids[first + i]
    return found
