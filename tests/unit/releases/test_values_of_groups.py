"""Centres by hand; permutations that stay in their group, move, and are fair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.numeric.records import Column, Scale
from sparkanon.releases import Grouped, NewValues, TakenFrom
from sparkanon.releases.base import Asked
from sparkanon.releases.centroid import Centroid
from sparkanon.releases.hybrid import Hybrid
from sparkanon.releases.permute import Permute, moved_within, permutation_within

LABELS = np.array([0, 1, 0, 1, 0, 1, 1], dtype=np.int32)


def column(scale: Scale, cells: list[float | None], name: str = "x") -> Column:
    null = np.array([cell is None for cell in cells])
    return Column(name, scale, np.array([cell or 0.0 for cell in cells]), null)


def centre(scale: Scale, cells: list[float | None]) -> list[float | None]:
    groups = Grouped(LABELS, np.random.default_rng(0))
    (new,) = Centroid().publish((column(scale, cells),), groups)
    assert isinstance(new, NewValues)
    return [None if null else float(v) for v, null in zip(new.values, new.null, strict=True)]


def spread(zero: float | None, one: float | None) -> list[float | None]:
    return [one if label else zero for label in LABELS]


def test_mean_median_and_mode_by_hand() -> None:
    # group 0 holds places 0, 2, 4; group 1 places 1, 3, 5, 6
    assert centre(Scale.NUMERIC, [1, 10, 2, 20, 6, 30, 40]) == spread(3, 25)
    assert centre(Scale.ORDINAL, [1, 4, 9, 1, 2, 3, 2]) == spread(2, 2)
    assert centre(Scale.NOMINAL, [2, 5, 2, 1, 0, 5, 1]) == spread(2, 1)


def test_nulls_win_with_half_of_the_group() -> None:
    assert centre(Scale.NUMERIC, [1, None, None, None, 5, 8, 4]) == spread(3, None)
    assert centre(Scale.NOMINAL, [None, 3, None, 3, 1, 3, None]) == spread(None, 3)
    assert centre(Scale.ORDINAL, [None] * 7) == spread(None, None)


def test_a_constant_group_keeps_its_value_to_the_last_bit() -> None:
    value = 0.1 + 0.2
    assert centre(Scale.NUMERIC, [value] * 7) == [value] * 7


@given(st.lists(st.integers(2, 9), min_size=1, max_size=30), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_permutations_stay_in_the_group(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.int32)
    for draw in (permutation_within, moved_within):
        rows = draw(labels, rng)
        assert sorted(rows) == list(range(len(labels)))
        assert (labels[rows] == labels).all()
    moved = np.bincount(labels, weights=rows != np.arange(len(labels)))
    assert (moved >= 2).all()  # of the redraw


@pytest.mark.parametrize(("draw", "kinds"), [(permutation_within, 6), (moved_within, 5)])
def test_permutations_are_fair(draw: Any, kinds: int) -> None:
    # a group of 3: all 6 permutations, or the 5 that move something, are equally likely
    labels = np.repeat(np.arange(20_000, dtype=np.int32), 3)
    rows = draw(labels, np.random.default_rng(1)).reshape(-1, 3) % 3
    codes, counts = np.unique(rows @ [9, 3, 1], return_counts=True)
    assert len(codes) == kinds
    expected = 20_000 / kinds
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert 0.02 < chi_square < 25.7  # 99.99 % of chi-square with 5 degrees; not too even


@pytest.mark.parametrize(("m", "uniform", "redrawn"), [(2, 0.5, 1.0), (3, 1 / 3, 0.4)])
def test_the_chance_of_a_right_guess_is_what_the_promise_says(
    m: int, uniform: float, redrawn: float
) -> None:
    """Whoever knows the group guesses that a record's cells went to one certain other place."""
    labels = np.repeat(np.arange(30_000, dtype=np.int32), m)
    quasi = ("a", "b")
    for redraw, expected in ((False, uniform), (True, redrawn)):
        draw = moved_within if redraw else permutation_within
        rows = draw(labels, np.random.default_rng(4)).reshape(-1, m) % m
        best = max((rows[:, 0] == place).mean() for place in range(m))
        assert best == pytest.approx(expected, abs=0.01)
        promise = Permute(redraw=redraw).promise(quasi, m)
        assert promise.to_dict()["chance"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("quasi", "blocks"),
    [
        ("a", (("a",),)),
        ("ab", (("a",), ("b",))),
        ("abc", (("a", "b"), ("c",))),
        ("abcd", (("a", "b"), ("c", "d"))),
        ("abcde", (("a", "b"), ("c", "d", "e"))),
    ],
)
def test_without_blocks_columns_are_torn_apart(quasi: str, blocks: Any) -> None:
    assert Permute().promise(list(quasi), 5).blocks == blocks


def test_what_tears_nothing_apart_is_refused() -> None:
    whole = Permute(blocks=[["a", "b"]])
    assert whole.problems(Asked("ab", 5, others=False))
    assert not whole.problems(Asked("ab", 5, others=True))
    assert not Permute().problems(Asked("ab", 5, others=False))
    assert Permute().problems(Asked("a", 5, others=False))


@pytest.mark.parametrize("k", [2, 3])
def test_hybrid_of_two_or_three_records_is_refused(k: int) -> None:
    (problem,) = Hybrid().problems(Asked("a", k, others=True))
    assert "at least 4" in problem.message
    assert Hybrid().problems(Asked("abcdefgh", k, others=True))
    assert not Hybrid().problems(Asked("a", 4, others=True))


def test_blocks_move_together_and_apart() -> None:
    n = 600
    labels = np.repeat(np.arange(100, dtype=np.int32), 6)
    records = tuple(column(Scale.NUMERIC, list(np.arange(n)), name) for name in "abcd")
    release = Permute(blocks=[["a", "c"]])
    assert release.promise(list("abcd"), 6).blocks == (("a", "c"), ("b", "d"))
    new = release.publish(records, Grouped(labels, np.random.default_rng(3)))
    taken = {
        name: part.rows
        for name, part in zip("abcd", new, strict=True)
        if isinstance(part, TakenFrom)
    }
    assert (taken["a"] == taken["c"]).all()
    assert (taken["b"] == taken["d"]).all()
    assert (taken["a"] != taken["b"]).mean() > 0.5


@pytest.mark.parametrize("release", [Centroid(), Permute()])
def test_a_release_is_a_function_of_its_generator(release: Centroid | Permute) -> None:
    records = (column(Scale.NUMERIC, [1, 2, 3, 4, 5, 6, 7]),)
    one, two = (
        release.publish(records, Grouped(LABELS, np.random.default_rng(9))) for _ in range(2)
    )
    for a, b in zip(one, two, strict=True):
        assert all(
            np.array_equal(x, y) for x, y in zip(vars(a).values(), vars(b).values(), strict=True)
        )
