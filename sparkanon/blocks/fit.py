"""Fit the block tree on a sample: the shape depends on data and policy, never on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparkanon.blocks.tree import Among, Below, Cut, Hashed, Leaf, Node, Tree
from sparkanon.numeric.records import Column, Floats, Records, Scale

Rows = npt.NDArray[np.int64]

BALANCED = 0.25  # a cut that leaves a quarter on the smaller side is as good as any
ENOUGH = 32  # sampled records on the smaller side, so that its true size is surely large
SLACK = 1.2  # sampling noise must not cut a block of just the right size once more


@dataclass(frozen=True)
class Sample:
    """A hash sample of the table, in the order of the row keys."""

    records: Records
    categories: Mapping[str, Sequence[str]]  # of each nominal column, by code
    keys: Rows


@dataclass(frozen=True)
class _Limits:
    weight: float  # records of the table that one sampled record stands for
    block_rows: float
    floor: float
    share: float  # of the records that a cut leaves on its left

    def allows(self, smaller: int, sampled_all: bool) -> bool:
        enough = 1 if sampled_all else ENOUGH
        return smaller >= enough and smaller * self.weight >= self.floor


def rows_of_a_block(wanted: int, k: int) -> tuple[int, int]:
    """Most and fewest records of a block: it must hold many groups, whatever k is."""
    most = max(wanted, 8 * k)
    return most, max(most // 20, 4 * k)


def fit_tree(
    sample: Sample,
    units: Mapping[str, float],
    rows: int,
    block_rows: int,
    floor: int,
    share: float = 0.5,
) -> Tree:
    """Cut the widest column near its median until every block holds about `block_rows`.

    Parameters
    ----------
    units : how much of each column counts as one step; columns with 0 are never cut
    rows : records in the whole table
    floor : no block is expected to hold fewer records than this
    share : where to cut instead of the median
    """
    n = len(sample.keys)
    limits = _Limits(rows / max(n, 1), block_rows * SLACK, floor, share)
    return Tree(_grow(np.arange(n), sample, units, limits, hashed=0))


def hashed_tree(rows: int, block_rows: int) -> Tree:
    """Cuts by the row keys alone, for records that need no neighbours in their block."""
    return Tree(_halved(rows, block_rows * SLACK, 0))


def _halved(rows: float, most: float, bit: int) -> Node | Leaf:
    if rows <= most:
        return Leaf()
    half = _halved(rows / 2, most, bit + 1)
    return Node(Hashed(bit), half, half)


def _grow(
    at: Rows, sample: Sample, units: Mapping[str, float], limits: _Limits, hashed: int
) -> Node | Leaf:
    if len(at) * limits.weight <= limits.block_rows:
        return Leaf()
    sampled_all = limits.weight <= 1.0
    best: tuple[float, Cut, npt.NDArray[np.bool_]] | None = None
    for column in _widest_first(at, sample.records, units):
        found = _cut(column, at, sample, limits.share)
        if found is None:
            continue
        cut, left = found
        smaller = min(int(left.sum()), int((~left).sum()))
        if not limits.allows(smaller, sampled_all):
            continue
        balance = smaller / len(at)
        if best is None or balance > best[0]:
            best = (balance, cut, left)
        if balance >= BALANCED:
            best = (balance, cut, left)
            break
    if best is None:
        cut = Hashed(hashed)
        left = (sample.keys[at] >> hashed) & 1 == 0
        if hashed >= 40 or not limits.allows(min(left.sum(), (~left).sum()), sampled_all):
            return Leaf()
        best = (0.5, cut, left)
        hashed += 1
    _, cut, left = best
    return Node(
        cut,
        _grow(at[left], sample, units, limits, hashed),
        _grow(at[~left], sample, units, limits, hashed),
    )


def _widest_first(at: Rows, records: Records, units: Mapping[str, float]) -> list[Column]:
    widths = []
    for place, column in enumerate(records):
        unit = units.get(column.name, 0.0)
        width = _width(column, at) / unit if unit > 0 else 0.0
        if width > 0:
            widths.append((-width, place))
    return [records[place] for _, place in sorted(widths)]


def _width(column: Column, at: Rows) -> float:
    values, null = column.values[at], column.null[at]
    if column.scale is Scale.NOMINAL:
        shares = np.bincount(np.where(null, 0, values + 1).astype(np.int64)) / len(at)
        return float(1.0 - np.sum(shares**2))
    present = values[~null]
    width = float(present.std()) if len(present) else 0.0
    # a column of nulls and one value can still be cut between the two
    return width if width > 0 or not null.any() or null.all() else 1e-300


def _cut(
    column: Column, at: Rows, sample: Sample, share: float
) -> tuple[Cut, npt.NDArray[np.bool_]] | None:
    null = column.null[at]
    if column.scale is Scale.NOMINAL:
        return _among(column.name, column.values[at], null, sample.categories[column.name], share)
    return _below(column.name, np.where(null, -np.inf, column.values[at]), share)


def _below(name: str, values: Floats, share: float) -> tuple[Cut, npt.NDArray[np.bool_]] | None:
    """The cut nearest to the share that does not part equal values."""
    at = int((len(values) - 1) * share)
    middle = np.partition(values, at)[at]
    smaller, larger = values[values < middle], values[values > middle]
    below_middle = abs(len(smaller) - len(values) * share)
    above_middle = abs(len(larger) - len(values) * (1.0 - share))
    if len(smaller) and (below_middle <= above_middle or not len(larger)):
        low, high = float(smaller.max()), float(middle)
    elif len(larger):
        low, high = float(middle), float(larger.min())
    else:
        return None
    # a point between two values, so that the tree holds no cell
    threshold = low / 2 + high / 2 if np.isfinite(low) else high - 1.0 - abs(high)
    if not low <= threshold < high:
        threshold = low
    return Below(name, threshold), values <= threshold


def _among(
    name: str,
    values: Floats,
    null: npt.NDArray[np.bool_],
    categories: Sequence[str],
    share: float,
) -> tuple[Cut, npt.NDArray[np.bool_]] | None:
    """The most frequent categories that together make about this share of the records."""
    codes = np.where(null, 0, values + 1).astype(np.int64)
    counts = np.bincount(codes)
    order = np.lexsort((np.arange(len(counts)), -counts))
    order = order[counts[order] > 0]
    if len(order) < 2:
        return None
    filled = np.cumsum(counts[order])
    take = 1 + int(np.argmin(np.abs(filled[:-1] - len(codes) * share)))
    chosen = order[:take]
    named = frozenset(None if code == 0 else categories[code - 1] for code in chosen)
    return Among(name, named), np.isin(codes, chosen)
