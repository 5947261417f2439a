"""Bins, entropy and mutual information by hand, by brute force, and in pieces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import merged, taken, values

from sparkanon.measures import Measure, entropy
from sparkanon.measures.entropy import BinCounts, Bins, ColumnBins, Entropy, MiLoss
from sparkanon.measures.grids import (
    CategoryGrid,
    Grid,
    coarse_nominal,
    coarse_ordered,
    grid_of,
)


def columns(*bins: int) -> list[ColumnBins]:
    """Columns a, b, ... whose pairs are counted in the same bins as they are."""
    return [ColumnBins("abcdefgh"[at], np.arange(b)) for at, b in enumerate(bins)]


def codes(*cells: list[int]) -> list[np.ndarray]:
    return [np.array(column, dtype=np.int32) for column in cells]


def finish(x: BinCounts, z: BinCounts, bins: list[ColumnBins]) -> list[Measure]:
    return taken((Entropy(), MiLoss()), {Bins(): (x, z, tuple(bins))}, [])


def brute_information(a: np.ndarray, b: np.ndarray) -> float:
    """PKA (3), H(A) - H(A|B), from the definition of conditional entropy."""

    def h(part: np.ndarray) -> float:
        p = np.unique(part, return_counts=True)[1] / part.size
        return float(-(p * np.log2(p)).sum())

    return h(a) - sum(np.mean(b == v) * h(a[b == v]) for v in np.unique(b))


def test_entropy_by_hand() -> None:
    # 1/2, 1/4, 1/4 -> 1/2 * 1 + 2 * 1/4 * 2 = 1.5 bits; a constant column 0; the table 1.5
    released = entropy.local(codes([0, 0, 1, 2], [1, 1, 1, 1]), columns(3, 2))
    found = finish(released, released, columns(3, 2))
    assert values(found)["entropy"] == 1.5
    assert values(found, "a")["entropy"] == 1.5
    assert str(values(found, "b")["entropy"]) == "0.0"


def test_mutual_information_by_hand() -> None:
    # a = b shares 1 bit with it, c is independent of both: average vector (1/2, 1/2, 0).
    # In the release b is independent too: (0, 0, 0). Loss = (1/2 + 1/2 + 0) / 3 = 1/3
    a, c = [0, 0, 1, 1] * 2, [0, 1, 0, 1] * 2
    broken = [0, 0, 0, 0, 1, 1, 1, 1]
    bins = columns(2, 2, 2)
    original, released = (entropy.local(codes(a, b, c), bins) for b in (a, broken))
    matrix = entropy.mutual_information(original, bins)
    np.testing.assert_allclose(matrix, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], atol=1e-12)
    found = finish(original, released, bins)
    assert values(found)["mi_loss"] == pytest.approx(1 / 3)
    assert values(found, "a")["mi_loss"] == pytest.approx(1 / 2)
    assert values(found, "c")["mi_loss"] == pytest.approx(0.0)
    gained = finish(released, original, bins)
    assert values(gained)["mi_loss"] == pytest.approx(-1 / 3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60))
def test_against_the_definition(cells: list[tuple[int, int]]) -> None:
    a, b = np.array(cells, dtype=np.int32).T
    bins = columns(4, 5)
    tally = entropy.local([a, b], bins)
    found = entropy.mutual_information(tally, bins)
    assert found[0, 1] == pytest.approx(brute_information(a, b), abs=1e-9)
    assert found[0, 1] == found[1, 0] >= 0
    assert 0 <= entropy.entropies(tally, bins)[0] <= 2 + 1e-12


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_add_up_exactly_in_any_order(blocks: int) -> None:
    rng = np.random.default_rng(3)
    cells = [rng.integers(0, b, 100).astype(np.int32) for b in (3, 40, 5)]
    bins = [
        ColumnBins(c.name, coarse_ordered(np.ones(c.bins, dtype=np.int64), 4))
        for c in columns(3, 40, 5)
    ]
    whole = entropy.local(cells, bins)
    shuffled = rng.permutation(100)
    tally = merged(lambda at: entropy.local([c[shuffled[at]] for c in cells], bins), 100, blocks)
    tally = pickle.loads(pickle.dumps(tally))
    np.testing.assert_array_equal(tally.single, whole.single)
    np.testing.assert_array_equal(tally.pairs, whole.pairs)


def test_pairs_are_counted_in_coarse_bins() -> None:
    # bins 0 and 1 of a become one, so a reveals nothing about b any more
    bins = [ColumnBins("a", np.array([0, 0, 1])), ColumnBins("b", np.array([0, 1]))]
    tally = entropy.local(codes([0, 1, 0, 1], [0, 1, 0, 1]), bins)
    assert tally.pairs.tolist() == [2, 2, 0, 0]
    assert entropy.entropies(tally, bins).tolist() == [1.0, 1.0]
    assert entropy.mutual_information(tally, bins)[0, 1] == 0.0


def test_one_column_no_column_no_row() -> None:
    alone = entropy.local(codes([0, 1]), columns(2))
    assert values(finish(alone, alone, columns(2))) == {"entropy": 1.0, "mi_loss": 0.0}
    none = entropy.local([], [])
    assert finish(none + none, none, []) == []
    empty = entropy.local(codes([], []), columns(2, 3))
    assert set(values(finish(empty, empty, columns(2, 3))).values()) == {0.0}


def test_a_code_without_a_bin_is_refused() -> None:
    with pytest.raises(ValueError, match="column 'a' has codes outside its 2 bins"):
        entropy.local(codes([0, 2]), columns(2))


def test_few_values_have_a_bin_each_and_nulls_their_own() -> None:
    grid = grid_of(np.array([1.0, 1.0, 2.5, 2.5, 7.0]), bins=3)
    cells = np.array([1.0, 2.5, 7.0, 0.0, -5.0, 3.0, 99.0])
    null = np.array([False, False, False, True, False, False, False])
    # a value that the sample did not hold goes to the bin before it, or the first
    assert grid.codes(cells, null).tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert grid.bins == 4


def test_many_values_share_equally_full_bins_and_ties_stay_together() -> None:
    smooth = np.arange(1000.0)
    grid = grid_of(smooth, bins=10)
    counts = np.bincount(grid.codes(smooth, np.zeros(1000, dtype=bool)), minlength=grid.bins)
    assert counts.tolist() == [100] * 10 + [0]
    heavy = np.sort(np.concatenate([np.zeros(900), np.arange(1.0, 101.0)]))
    edges = grid_of(heavy, bins=10).edges
    assert edges.tolist() == [1.0]  # all quantiles but the last fall on zero
    assert grid_of(np.zeros(5), bins=10).edges.size == 0
    assert grid_of(np.zeros(0)).bins == 2


def test_coarse_bins_of_an_ordered_column_are_equally_full() -> None:
    counts = np.array([99] * 8 + [7])
    assert coarse_ordered(counts, 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert coarse_ordered(np.array([5, 5, 1]), 4).tolist() == [0, 1, 2]
    assert coarse_ordered(np.zeros(9, dtype=np.int64), 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=60), st.integers(2, 16))
def test_coarse_bins_keep_the_order_and_leave_no_gap(counts: list[int], bins: int) -> None:
    coarse = coarse_ordered(np.array(counts), bins)
    steps = np.diff(coarse)
    assert set(steps.tolist()) <= {0, 1}
    assert coarse[0] == 0
    assert coarse[-1] == coarse[-2] + 1 <= bins


def test_frequent_categories_keep_a_bin() -> None:
    # most frequent: code 3 (9), code 1 (5); codes 0, 2 and 4 share bin 2; nulls are bin 3
    assert coarse_nominal(np.array([1, 5, 2, 9, 0, 4]), 3).tolist() == [2, 1, 2, 0, 2, 3]
    assert coarse_nominal(np.array([1, 5, 2]), 3).tolist() == [0, 1, 2]
    grid = CategoryGrid(5)
    assert grid.bins == 6
    assert grid.codes(np.array([4.0, 0.0]), np.array([False, True])).tolist() == [4, 5]


def test_a_grid_is_small_and_pickles() -> None:
    grid = pickle.loads(pickle.dumps(grid_of(np.arange(1e5))))
    assert isinstance(grid, Grid)
    assert grid.bins == 257
