"""Originals and released cells as boxes: how far they are apart, if a cell covers many values.

A coordinate of a box reaches from `low` to `high`, both included; a suppressed cell from -inf to
inf. A set of values has its members beside, and `low`..`high` is the hull around them. Distances
are taken in the numbers of the column itself: after any scaling, the open end of a range and the
value beside it could be one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.records import Bools, Floats

Longs = npt.NDArray[np.int64]

# The least that a value outside of a cell adds, even if the square of the gap is too small for a
# double or the column has no weight. So a distance of 0 means that every cell covers its value.
LEAST = 1e-300
# Relative error of sums in another order: distances that differ by less count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Ruler:
    """How a space measures the difference of two cells of one column."""

    factor: float  # of a difference of the column's own numbers
    cap: float  # what a difference can add at most; inf: no limit, and squares are added
    null_step: float  # the distance of a null from a value
    null_at: float | None  # the value at which a null stands; None: it is beside all values


class Yard(NamedTuple):
    """The rulers of all coordinates."""

    factor: Floats  # (d,)
    cap: Floats
    capped: bool  # sums of capped differences, else of squares


class Boxes(NamedTuple):
    """`n` boxes; members of sets are listed for boxes of released cells only."""

    low: Floats  # (d, n)
    high: Floats
    start: Longs  # (d, n) where the members of a set begin
    sizes: Longs  # (d, n) how many it has; 0: the cell is no set
    with_sets: Bools  # (n,)
    members_low: Floats
    members_high: Floats

    @property
    def n(self) -> int:
        return int(self.low.shape[1])


def make_boxes(
    low: Floats,
    high: Floats,
    start: Longs | None = None,
    count: Longs | None = None,
    members: Sequence[Floats] = (),
) -> Boxes:
    """Arrays (d, n) of the one kind that the kernels are compiled for."""
    none = np.zeros(low.shape, np.int64)
    start, count = none if start is None else start, none if count is None else count
    members_low, members_high = members or (np.empty(0), np.empty(0))
    return Boxes(
        np.require(low, np.float64, ["C", "W"]),
        np.require(high, np.float64, ["C", "W"]),
        np.require(start, np.int64, ["C", "W"]),
        np.require(count, np.int64, ["C", "W"]),
        np.asarray((count > 0).any(axis=0)),
        np.require(members_low, np.float64, ["C", "W"]),
        np.require(members_high, np.float64, ["C", "W"]),
    )


def make_yard(factor: Floats, cap: Floats, capped: bool) -> Yard:
    """The same for rulers."""
    return Yard(
        np.require(factor, np.float64, ["C", "W"]), np.require(cap, np.float64, ["C", "W"]), capped
    )


def some(boxes: Boxes, rows: Longs) -> Boxes:
    """Some of the boxes, in this order."""
    return make_boxes(
        boxes.low[:, rows],
        boxes.high[:, rows],
        boxes.start[:, rows],
        boxes.sizes[:, rows],
        (boxes.members_low, boxes.members_high),
    )


@tight
def part(gap: float, factor: float, cap: float, capped: bool) -> float:
    """What a gap between two cells adds to a distance. Never less for a wider gap."""
    if gap > 0.0:
        step = gap * factor
        step = min(step, cap) if capped else step * step
        return max(step, LEAST)
    return 0.0


@tight
def set_gap(boxes: Boxes, j: int, i: int, low: float, high: float) -> float:
    """Between low..high and the nearest member of the set in coordinate `j` of box `i`."""
    first = boxes.start[j, i]
    gap = np.inf
    for at in range(first, first + boxes.sizes[j, i]):
        gap = min(gap, max(boxes.members_low[at] - high, low - boxes.members_high[at], 0.0))
    return gap


@tight
def apart(released: Boxes, r: int, original: Boxes, x: int, yard: Yard) -> float:
    """Distance between a released box and an original; O(d + members).

    Adds up the coordinates as `hull_distances` does, so that both agree to the bit.
    """
    total = 0.0
    for j in range(len(yard.factor)):
        low, high = original.low[j, x], original.high[j, x]
        if released.sizes[j, r] > 0:
            gap = set_gap(released, j, r, low, high)
        else:
            gap = max(released.low[j, r] - high, low - released.high[j, r])
        total += part(gap, yard.factor[j], yard.cap[j], yard.capped)
    return total


@kernel
def paired(released: Boxes, original: Boxes, yard: Yard) -> Floats:
    """Distances between boxes that stand at the same place; O(n d)."""
    n = released.low.shape[1]
    found = np.empty(n)
    for i in range(n):
        found[i] = apart(released, i, original, i, yard)
    return found


@tight
def hull_distances(
    low: Floats, high: Floats, count: int, yard: Yard, start: Floats, end: Floats, out: Floats
) -> None:
    """Distances from the box start..end to the first `count` of (d, .) hulls.

    A lower bound for all that lies in a hull, because these are the operations of `apart` in
    their order on gaps that are not wider: rounding is monotone.
    """
    for b in range(count):
        out[b] = 0.0
    for j in range(len(start)):
        lower, upper, first, last = low[j], high[j], start[j], end[j]
        factor, cap = yard.factor[j], yard.cap[j]
        if first == -np.inf and last == np.inf:
            continue
        for b in range(count):
            gap = max(lower[b] - last, first - upper[b])
            out[b] += part(gap, factor, cap, yard.capped)


@kernel
def touched(
    boxes: Boxes, limit: Floats, low: Floats, high: Floats, most: Floats, yard: Yard
) -> Bools:
    """Which of the hulls (d, b) may hold something that counts for a box, (n, b).

    That is one as near as `limit` (n,) to the box, or as `most` (b,), if it is the hull that
    asks. O(n b d).
    """
    d, n = boxes.low.shape
    count = low.shape[1]
    found, bound = np.zeros((n, count), np.bool_), np.empty(count)
    start, end = np.empty(d), np.empty(d)
    for i in range(n):
        start[:], end[:] = boxes.low[:, i], boxes.high[:, i]
        hull_distances(low, high, count, yard, start, end, bound)
        for b in range(count):
            found[i, b] = bound[b] <= max(limit[i], most[b]) * (1.0 + ROUNDING)
    return found
