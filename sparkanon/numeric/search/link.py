"""Nearest neighbours with shared credit: the search of distance-based record linkage.

Queries are taken in small groups of neighbours. What all queries of a group can rule out is ruled
out once, so that a query only looks at the boxes of a few buckets and at the points of fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import box_gaps, distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.index import LANES, make_index, whole
from sparkanon.numeric.search.nearest import least
from sparkanon.numeric.search.slabs import cut

Longs = npt.NDArray[np.int64]

BUCKET = 64  # reference points
STARTS = 2  # buckets that a group looks at before it rules out the others
TOGETHER = 32  # queries that share one look at all buckets


class Targets(NamedTuple):
    """Reference points in buckets of neighbours with bounding boxes."""

    values: Floats  # (buckets, d, width)
    held: Ints  # (buckets,) points in a bucket
    low: Floats  # (d, buckets) box
    high: Floats
    middle: Floats  # (d, buckets) where a bucket is searched for first
    cls: Longs  # (buckets, width) class of a point
    weight: Longs  # (buckets, width) records that a point stands for


class Links(NamedTuple):
    """What was found for the queries so far."""

    best: Floats
    hits: Longs
    ties: Longs


class Boxes(NamedTuple):
    """Scratch of a group of queries: the buckets it has to look at."""

    low: Floats  # (d, buckets)
    high: Floats
    bound: Floats  # (buckets,) lower bounds of the distances from a query
    near: Floats  # (width,) distances in a bucket
    near_bits: Longs  # the same memory as integers


@dataclass(frozen=True)
class Linked:
    """The nearest reference points of every query; a query's credit is hits / ties.

    Attributes
    ----------
    best : float64 array of shape (m,)
        Distance to the nearest; inf where none is within the limit.
    hits : int64 array of shape (m,)
        Reference points at exactly this distance that are of the query's class.
    ties : int64 array of shape (m,)
        Records that all reference points at exactly this distance stand for; 0 where none.
    """

    best: Floats
    hits: Longs
    ties: Longs


@kernel
def lay_out(index_ids: Ints, held: Ints, width: int, given: Longs) -> Longs:
    """`given` of every point at the place of the point: (buckets, width)."""
    placed = np.zeros((len(held), width), np.int64)
    for b in range(len(held)):
        for i in range(held[b]):
            placed[b, i] = given[index_ids[b * width + i]]
    return placed


def make(values: Floats, metric: Metric, cls: Longs, weight: Longs) -> Targets:
    """Buckets over reference points `values` (d, n); O(n d log n)."""
    d, n = values.shape
    if n == 0:
        none, nothing = np.empty((d, 0)), np.empty((0, LANES), np.int64)
        return Targets(
            np.empty((0, d, LANES)), np.empty(0, np.int32), none, none, none, nothing, nothing
        )
    values = floats(values)
    order, bounds = cut(values, metric, BUCKET)
    index = make_index(
        np.ascontiguousarray(values[:, order]), order, bounds, np.empty(0), np.empty(0, np.int64)
    )
    width = index.values.shape[2]
    return Targets(
        index.values, index.held, index.low, index.high, (index.low + index.high) / 2,
        lay_out(index.ids, index.held, width, longs(cls)),
        lay_out(index.ids, index.held, width, longs(weight)),
    )  # fmt: skip


def floats(given: Floats) -> Floats:
    """Of the one kind of array that the kernels are compiled for, as in `arrays`."""
    return np.require(given, np.float64, ["C", "W"])


def longs(given: Longs) -> Longs:
    """The same for integers."""
    return np.require(given, np.int64, ["C", "W"])


@tight
def compare(
    targets: Targets, chosen: Ints, boxes: Boxes, metric: Metric, queries: Floats, first: int,
    last: int, cls: Longs, found: Links,
) -> None:  # fmt: skip
    """Look for neighbours of the queries first..last-1 in the `chosen` buckets.

    One long loop: to hand the arrays to another function costs more than a visit of a bucket.
    """
    values, held, bound, near = targets.values, targets.held, boxes.bound, boxes.near
    best, hits, ties = found.best, found.hits, found.ties
    for j in range(values.shape[1]):
        for c in range(len(chosen)):
            boxes.low[j, c] = targets.low[j, chosen[c]]
            boxes.high[j, c] = targets.high[j, chosen[c]]
    for q in range(first, last):
        point = queries[q]
        box_gaps(boxes.low, boxes.high, len(chosen), metric, point, point, bound)
        for c in range(len(chosen)):
            if bound[c] > best[q]:
                continue
            b = chosen[c]
            count = whole(held[b])
            distances(values[b], metric, point, count, near)
            # The empty places up to `count` are at least as far as any point.
            nearest = least(near, boxes.near_bits, 0, count)
            if nearest > best[q]:
                continue
            if nearest < best[q]:
                best[q], hits[q], ties[q] = nearest, 0, 0
            for i in range(held[b]):
                if near[i] == nearest:
                    hits[q] += targets.cls[b, i] == cls[q]
                    ties[q] += targets.weight[b, i]


@kernel
def search(
    targets: Targets, metric: Metric, queries: Floats, bounds: Ints, cls: Longs, found: Links
) -> None:
    """Fill `found`, whose distances are limits at first, for `queries` (m, d) in groups."""
    d, buckets = targets.low.shape
    start, end, centre = np.empty(d), np.empty(d), np.empty(d)
    gap, to_middle = np.empty(buckets), np.empty(buckets)
    near = np.empty(targets.values.shape[2])
    boxes = Boxes(
        np.empty((d, buckets)), np.empty((d, buckets)), np.empty(buckets),
        near, near.view(np.int64),
    )  # fmt: skip
    chosen, starts = np.empty(buckets, np.int32), min(STARTS, buckets)
    for g in range(len(bounds) - 1):
        first, last = bounds[g], bounds[g + 1]
        for j in range(d):
            start[j], end[j] = queries[first, j], queries[first, j]
            for q in range(first + 1, last):
                start[j] = min(start[j], queries[q, j])
                end[j] = max(end[j], queries[q, j])
            centre[j] = (start[j] + end[j]) / 2
        box_gaps(targets.low, targets.high, buckets, metric, start, end, gap)
        distances(targets.middle, metric, centre, buckets, to_middle)
        for turn in range(starts):
            top = -1
            for b in range(buckets):
                if not np.isnan(gap[b]) and (top < 0 or to_middle[b] < to_middle[top]):
                    top = b
            chosen[turn], gap[top] = top, np.nan  # within no limit: never a second time
        compare(targets, chosen[:starts], boxes, metric, queries, first, last, cls, found)
        limit = found.best[first:last].max()
        count = 0
        for b in range(buckets):
            if gap[b] <= limit:
                chosen[count] = b
                count += 1
        # The most promising first, so that the limits fall quickly.
        others = chosen[:count][np.argsort(to_middle[chosen[:count]])]
        compare(targets, others, boxes, metric, queries, first, last, cls, found)


def link(
    targets: Targets, metric: Metric, queries: Floats, cls: Longs, most: Floats | None = None
) -> Linked:
    """The nearest reference points of `queries` (d, m) among `targets`, exactly, ties included.

    Only neighbours with a distance of at most `most` (m,) count. A known distance, such as that
    to a point of the own class, changes nothing but saves time.
    """
    m = queries.shape[1]
    best = np.full(m, np.inf) if most is None else np.array(most, np.float64)
    hits, ties = np.zeros(m, np.int64), np.zeros(m, np.int64)
    if m > 0 and len(targets.held) > 0:
        queries = floats(queries)
        order, bounds = cut(queries, metric, TOGETHER)
        found = Links(best[order], hits.copy(), ties.copy())
        points = np.ascontiguousarray(queries[:, order].T)
        search(targets, metric, points, bounds, longs(cls)[order], found)
        best[order], hits[order], ties[order] = found
    best[ties == 0] = np.inf
    return Linked(best, hits, ties)


@kernel
def within_reach(
    queries: Floats, best: Floats, low: Floats, high: Floats, metric: Metric
) -> tuple[Longs, Longs]:
    """`reaches` for queries (m, d) and boxes (d, blocks)."""
    blocks = low.shape[1]
    bound, room = np.empty(blocks), max(len(queries), 1)
    query, block, count = np.empty(room, np.int64), np.empty(room, np.int64), 0
    for q in range(len(queries)):
        box_gaps(low, high, blocks, metric, queries[q], queries[q], bound)
        if count + blocks > room:
            room = 2 * (count + blocks)
            more_query, more_block = np.empty(room, np.int64), np.empty(room, np.int64)
            more_query[:count], more_block[:count] = query[:count], block[:count]
            query, block = more_query, more_block
        for b in range(blocks):
            if bound[b] <= best[q]:
                query[count], block[count] = q, b
                count += 1
    return query[:count].copy(), block[:count].copy()


def reaches(
    queries: Floats, best: Floats, low: Floats, high: Floats, metric: Metric
) -> tuple[Longs, Longs]:
    """Which boxes may hold a point at most `best` (m,) from which of `queries` (d, m).

    Boxes low..high, (blocks, d), are those of the points of other blocks; one with low > high is
    empty and never reached. Returns (query, block) pairs by query, then block. A block that is
    left out cannot even tie. O(m blocks d).
    """
    full = np.flatnonzero((low <= high).all(axis=1))
    query, block = within_reach(
        floats(queries.T), floats(best), floats(low[full].T), floats(high[full].T), metric
    )
    return query, full[block]
