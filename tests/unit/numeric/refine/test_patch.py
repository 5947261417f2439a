"""Patches: every step against a recount of the whole cost, both distances."""

from __future__ import annotations

import numpy as np
import pytest
from brute import cost
from test_refine import SPACES, some_points

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.chance import draw, make_chance, make_waits
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.refine.anneal import best_partner, cool
from sparkanon.numeric.refine.births import end_group, found_group
from sparkanon.numeric.refine.patch import (
    NEAR,
    Patch,
    fall,
    list_near,
    load,
    make_patch,
    move,
    rise,
    swap,
    tally,
)

K, N = 3, 24


def a_patch(space: str, sizes: tuple[int, ...]) -> tuple[Points, Patch]:
    """A patch of groups of these sizes, in the order of the records."""
    points = some_points(space, N)
    values, metric = arrays(points)
    members = np.zeros((len(sizes), 2 * K - 1), np.int32)
    at = 0
    for g, size in enumerate(sizes):
        members[g, :size] = range(at, at + size)
        at += size
    patch = make_patch(len(values), N, K)
    names = np.arange(N // K + 1, dtype=np.int32)
    rows = np.ascontiguousarray(values.T)
    count = load(patch, rows, metric, members, np.array(sizes, np.int32), names, len(sizes))
    assert count == N
    tally(patch, N, N // K + 1)
    return points, patch


def cost_of(points: Points, patch: Patch) -> float:
    labels = np.unique(patch.group[:N], return_inverse=True)[1]
    return cost(points, labels.astype(np.int32))


def consistent(patch: Patch) -> None:
    """Members, slots, sizes and sums say the same."""
    sums, pairs = patch.sums.copy(), patch.pairs.copy()
    for i in range(N):
        assert patch.members[patch.group[i], patch.slot[i]] == i
    assert (np.bincount(patch.group[:N], minlength=len(patch.size)) == patch.size).all()
    tally(patch, N, N // K + 1)
    assert sums == pytest.approx(patch.sums, abs=1e-12)
    assert pairs == pytest.approx(patch.pairs, abs=1e-12)


EIGHT = (3, 3, 3, 3, 3, 3, 3, 3)
SIX = (5, 4, 3, 5, 4, 3)


@pytest.mark.parametrize("space", SPACES)
def test_the_cost_of_a_patch_is_the_cost_of_its_groups(space: str) -> None:
    points, patch = a_patch(space, SIX)
    labels = np.repeat(np.arange(6, dtype=np.int32), SIX)
    assert tally(patch, N, N // K + 1) == pytest.approx(cost(points, labels), rel=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_near_records_are_the_nearest(space: str) -> None:
    _, patch = a_patch(space, SIX)
    assert list_near(patch, N) == NEAR
    for i in range(N):
        others = np.delete(patch.apart[i, :N], i)
        others.sort()
        assert (patch.apart[i, patch.near[i]] == others[:NEAR]).all()
        assert i not in patch.near[i]
        assert patch.scale[i] == pytest.approx(others[:NEAR].mean(), rel=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_a_move_changes_the_cost_as_foretold(space: str) -> None:
    points, patch = a_patch(space, SIX)
    for i, b in ((0, 1), (6, 2), (13, 5), (0, 2)):
        before, foretold = cost_of(points, patch), rise(patch, i, b) - fall(patch, i)
        move(patch, N, i, b)
        assert cost_of(points, patch) - before == pytest.approx(foretold, abs=1e-12)
        consistent(patch)


@pytest.mark.parametrize("space", SPACES)
def test_the_best_partner_is_the_best_of_all_swaps(space: str) -> None:
    points, patch = a_patch(space, SIX)
    before = cost_of(points, patch)
    changes = {}
    for j in range(5, 9):  # the members of group 1
        swap(patch, N, 0, j)
        changes[j] = cost_of(points, patch) - before
        consistent(patch)
        swap(patch, N, 0, j)
    partner, change = best_partner(patch, 0, 1)
    assert partner == min(changes, key=lambda j: changes[j])
    assert change == pytest.approx(changes[partner], abs=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_a_group_ends_where_others_have_room(space: str) -> None:
    points, patch = a_patch(space, EIGHT)
    before, log = cost_of(points, patch), np.empty((2 * K, 2), np.int32)
    change, steps = end_group(patch, N, N // K + 1, K, 4, log)
    assert steps == 3
    assert patch.size[4] == 0
    assert patch.size.max() < 2 * K
    assert cost_of(points, patch) - before == pytest.approx(change, abs=1e-12)
    consistent(patch)
    for at in range(steps - 1, -1, -1):
        move(patch, N, log[at, 0], log[at, 1])
    assert cost_of(points, patch) == pytest.approx(before, rel=1e-12)
    consistent(patch)


@pytest.mark.parametrize("space", SPACES)
def test_a_group_is_founded_by_those_that_can_be_spared(space: str) -> None:
    points, patch = a_patch(space, SIX)
    before, log = cost_of(points, patch), np.empty((2 * K, 2), np.int32)
    change, steps = found_group(patch, N, N // K + 1, K, 0, log)
    assert steps == K
    assert patch.group[0] == 6
    assert patch.size[6] == K
    assert patch.size[:7].min() >= K
    assert cost_of(points, patch) - before == pytest.approx(change, abs=1e-12)
    consistent(patch)
    _, full = a_patch(space, EIGHT)
    assert found_group(full, N, N // K + 1, K, 0, log) == (np.inf, 0), "nobody can be spared"


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("sizes", [EIGHT, SIX])
def test_annealing_lowers_the_cost_and_keeps_the_sizes(space: str, sizes: tuple[int, ...]) -> None:
    points, patch = a_patch(space, sizes)
    before, log = cost_of(points, patch), np.empty((2 * K, 2), np.int32)
    after = cool(patch, N, N // K + 1, K, 0.3, make_chance(0), make_waits(), log)
    assert after == pytest.approx(cost_of(points, patch), rel=1e-12)
    assert after < 0.8 * before, "the first groups are random"
    held = patch.size[patch.size > 0]
    assert K <= held.min() <= held.max() < 2 * K
    consistent(patch)


def test_annealing_finds_the_number_of_clumps() -> None:
    # Four clumps of 5 and one of 4, far apart; the first groups mix them and are one too many.
    rng = np.random.default_rng(3)
    clump = np.repeat(np.arange(5), (5, 5, 5, 5, 4))
    order = rng.permutation(N)
    values = (100.0 * clump + rng.random(N))[order]
    patch = make_patch(1, N, K)
    members = np.arange(N, dtype=np.int32).reshape(6, 4)
    members = np.concatenate([members, np.zeros((6, 1), np.int32)], axis=1)
    names = np.arange(N // K + 1, dtype=np.int32)
    size = np.full(6, 4, np.int32)
    load(patch, values[:, None].copy(), Metric.euclidean(1), members, size, names, 6)
    log = np.empty((2 * K, 2), np.int32)
    cool(patch, N, N // K + 1, K, 0.3, make_chance(0), make_waits(), log)
    found = {tuple(sorted(set(clump[order][patch.group[:N] == g]))) for g in range(9)}
    assert found - {()} == {(0,), (1,), (2,), (3,), (4,)}


def test_random_numbers_are_spread_evenly_and_differ_by_turn() -> None:
    states = [make_chance(turn) for turn in range(3)]
    drawn = np.array([[draw(state) for _ in range(10_000)] for state in states])
    assert len({tuple(row) for row in drawn.tolist()}) == 3
    assert 0 <= drawn.min() <= drawn.max() < 2**31
    for row in drawn:
        counts = np.bincount(row % 16, minlength=16)
        assert ((counts - 625.0) ** 2 / 625.0).sum() < 40, "chi-square, 15 degrees, p = 0.0005"


def test_waits_are_logarithms() -> None:
    waits = make_waits()
    middle = (np.arange(len(waits)) + 0.5) / len(waits)
    assert waits[16:] == pytest.approx(-np.log(middle)[16:], abs=1e-3)
    assert abs(waits.mean() - 1.0) < 1e-2


def test_distances_that_overflow_change_nothing() -> None:
    values = 1e200 * np.random.default_rng(0).normal(size=(N, 2))
    patch, size = make_patch(2, N, K), np.full(6, 4, np.int32)
    members = np.zeros((6, 5), np.int32)
    members[:, :4] = np.arange(N).reshape(6, 4)
    names = np.arange(N // K + 1, dtype=np.int32)
    load(patch, values, Metric.euclidean(2), members, size, names, 6)
    log = np.empty((2 * K, 2), np.int32)
    cool(patch, N, N // K + 1, K, 0.3, make_chance(0), make_waits(), log)
    assert (patch.group[:N] == np.repeat(np.arange(6), 4)).all()
