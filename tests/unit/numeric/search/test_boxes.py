"""Distances between boxes by hand, and the search among them against all pairs in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.boxes import Boxes, Yard, make_boxes, make_yard, paired, touched
from sparkanon.numeric.search.shelves import near

INF = np.inf


class Cells(NamedTuple):
    """Released boxes, the members of their sets by (coordinate, box), and originals."""

    released: Boxes
    sets: dict[tuple[int, int], list[tuple[float, float]]]
    original: Boxes
    yard: Yard


def gaps(cells: Cells, j: int) -> Floats:
    """(released, originals) of one coordinate, in plain numpy."""
    x_low, x_high = cells.original.low[j], cells.original.high[j]
    found = np.empty((cells.released.n, cells.original.n))
    for r in range(cells.released.n):
        own = (cells.released.low[j, r], cells.released.high[j, r])
        ends = cells.sets.get((j, r), [own])
        found[r] = np.min(
            [np.maximum(np.maximum(lo - x_high, x_low - hi), 0) for lo, hi in ends], 0
        )
    return found


def brute(cells: Cells) -> Floats:
    total = np.zeros((cells.released.n, cells.original.n))
    for j, (factor, cap) in enumerate(zip(cells.yard.factor, cells.yard.cap, strict=True)):
        gap = gaps(cells, j)
        step = gap * factor
        step = np.minimum(step, cap) if cells.yard.capped else step * step
        total += np.where(gap > 0, np.maximum(step, 1e-300), 0.0)
    return total


def random_cells(rng: np.random.Generator, n: int, m: int, d: int, capped: bool) -> Cells:
    """Lattices: ties, ranges that end where values are, suppression, sets, nulls as boxes."""
    x = rng.integers(0, 6, (d, n)) / 2.0
    low, high = x.copy(), x.copy()
    low[:, rng.random(n) < 0.05], high[:, rng.random(n) < 0.05] = -INF, INF
    centre = x[:, rng.integers(0, n, m)]
    first, last = centre.copy(), centre + rng.integers(0, 2, (d, m)) / 2
    open_ = rng.random((d, m)) < 0.2
    first = np.where(open_, np.nextafter(first, INF), first)
    last = np.maximum(last, first)
    hidden = rng.random((d, m)) < 0.3
    first[hidden], last[hidden] = -INF, INF
    half = rng.random((d, m)) < 0.1
    last[half] = INF
    start, count = np.zeros((d, m), np.int64), np.zeros((d, m), np.int64)
    sets, members = {}, [np.empty(0), np.empty(0)]
    for j, r in zip(*np.nonzero(~hidden & (rng.random((d, m)) < 0.2)), strict=True):
        values = rng.choice(np.arange(6) / 2, rng.integers(2, 4), replace=False)
        ends = [(float(v), float(v) + rng.integers(0, 2) / 4) for v in values]
        sets[int(j), int(r)] = ends
        start[j, r], count[j, r] = len(members[0]), len(ends)
        members = [np.append(m_, [e[i] for e in ends]) for i, m_ in enumerate(members)]
        first[j, r], last[j, r] = min(e[0] for e in ends), max(e[1] for e in ends)
    factor = rng.choice([0.0, 0.7, 1.3], d)
    cap = np.full(d, 0.8 if capped else INF)
    return Cells(
        make_boxes(first, last, start, count, members),
        sets,
        make_boxes(low, high),
        make_yard(factor, cap, capped),
    )


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (40, 30, 2), (700, 400, 3), (900, 500, 7)])
def test_search_equals_all_pairs(n: int, m: int, d: int, capped: bool) -> None:
    rng = np.random.default_rng(n + d)
    cells = random_cells(rng, n, m, d, capped)
    distance = brute(cells)
    for original_asks in (True, False):
        found = distance.T if original_asks else distance
        asking, reported = found.shape
        weight = rng.integers(1, 5, reported)
        # The own one is the nearest, which is often compatible, or any other.
        rank = np.where(rng.random(asking) < 0.5, 0, rng.integers(0, reported, asking))
        own = np.sort(found, axis=1)[np.arange(asking), rank]
        asks = np.sort(rng.permutation(asking)[: max(asking // 2, 1)])
        args = cells.released, cells.original, cells.yard, original_asks, weight, asks, own
        got = near(*args)
        lost = (found < own[:, None]).any(axis=1)
        ties = ((found == own[:, None]) * weight).sum(axis=1)
        assert got.lost.tolist() == lost[asks].tolist()
        assert got.ties.tolist() == np.where(lost, 0, ties)[asks].tolist()
        if n > 100:
            assert 0 < lost.mean() < 1
            assert 0 < (own == 0).mean() < 1


@pytest.mark.parametrize("capped", [False, True])
def test_pairs_are_as_far_apart_as_the_search_finds_them(capped: bool) -> None:
    cells = random_cells(np.random.default_rng(1), 300, 300, 5, capped)
    found = paired(cells.released, cells.original, cells.yard)
    assert found.tolist() == np.diagonal(brute(cells)).tolist()


def one(low: float, high: float) -> Boxes:
    return make_boxes(np.array([[low]]), np.array([[high]]))


def test_distances_by_hand() -> None:
    squares, caps = (make_yard(np.array([0.5]), np.array([c]), c < 9) for c in (INF, 0.75))
    x = one(3.0, 3.0)
    for released, square, capped in (
        (one(1, 3), 0.0, 0.0),
        (one(-INF, INF), 0.0, 0.0),
        (one(4, 9), 0.25, 0.5),
        (one(-INF, 1), 1.0, 0.75),  # two away, more than the cap
    ):
        assert paired(released, x, squares).tolist() == [square]
        assert paired(released, x, caps).tolist() == [capped]


def test_the_open_end_of_a_range_is_outside_however_small_the_gap() -> None:
    yard = make_yard(np.array([1e-6, 0.0]), np.array([INF, INF]), False)
    x = make_boxes(np.zeros((2, 1)), np.zeros((2, 1)))
    after = np.nextafter(0.0, 1.0)  # its square is 0
    for low in ([after, 0.0], [0.0, 5.0]):
        released = make_boxes(np.array(low)[:, None], np.full((2, 1), 9.0))
        assert paired(released, x, yard)[0] > 0


def test_boxes_touch_hulls_within_either_limit() -> None:
    yard = make_yard(np.ones(1), np.array([INF]), False)
    hulls = np.array([[0.0, 10, 20]]), np.array([[5.0, 15, 25]])
    limits = np.zeros(1)
    boxes = one(4, 10)
    assert touched(boxes, limits, *hulls, np.zeros(3), yard).tolist() == [[True, True, False]]
    assert touched(boxes, limits + 100, *hulls, np.zeros(3), yard).all()
    most = np.array([0.0, 0, 99])  # 20 is ten away
    assert touched(boxes, limits, *hulls, most, yard).tolist() == [[True, True, False]]
    assert touched(boxes, limits, *hulls, most + 1, yard).all()


def test_nobody_asks_and_nobody_is_there() -> None:
    yard, none = make_yard(np.ones(1), np.ones(1), True), np.empty(0, np.int64)
    empty = make_boxes(np.empty((1, 0)), np.empty((1, 0)))
    found = near(one(1, 2), one(1, 1), yard, True, np.ones(1, np.int64), none, np.zeros(1))
    assert found.ties.shape == (0,)
    found = near(empty, one(1, 1), yard, True, none, np.zeros(1, np.int64), np.zeros(1))
    assert found.ties.tolist() == [0]
