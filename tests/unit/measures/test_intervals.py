"""Interval disclosure in sd and in ranks, and ranks from exact counts at cuts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import merged, rows, statistics, table, taken, values

from sparkanon.measures import Measure, intervals, ranks
from sparkanon.measures.intervals import (
    IntervalRank,
    IntervalSd,
    WithinCounts,
    WithinRanks,
    WithinSd,
)
from sparkanon.measures.ranks import RankGrid
from sparkanon.numeric.records import Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics

nan = np.nan


def finish_sd(counts: WithinCounts, stats: list[ColumnStatistics]) -> list[Measure]:
    return taken((IntervalSd(),), {WithinSd(IntervalSd().width): counts}, stats)


def finish_rank(counts: WithinCounts, stats: list[ColumnStatistics]) -> list[Measure]:
    return taken((IntervalRank(),), {WithinRanks(IntervalRank().width): counts}, stats)


def grid(column: np.ndarray, cuts: np.ndarray) -> RankGrid:
    x = table(column)
    return ranks.finish(ranks.local(x, statistics(x), [cuts]), [cuts])[0]


def nearest_ranks(column: np.ndarray, one: float, other: float) -> float:
    """Distance of two values' nearest ranks, from the sorted column itself."""

    def held(value: float) -> list[float]:
        below, upto = np.sum(column < value), np.sum(column <= value)
        return list(range(below + 1, upto + 1)) or [below + 0.5]

    return min(abs(a - b) for a in held(one) for b in held(other))


def pair(seed: int, n: int = 150) -> tuple[Records, Records]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=n), np.round(rng.normal(size=n), 1)])
    z = x + rng.normal(scale=0.1, size=(n, 2))
    x[rng.random((n, 2)) < 0.05] = nan
    z[rng.random((n, 2)) < 0.05] = nan
    return table(*x.T), table(*z.T)


def test_sd_intervals_by_hand() -> None:
    # a: sd of 0, 0, 10, 10 is 5, half-width 0.2 * 5 = 1: distances 1, 1.5, 0, 1 -> 3 of 4 within
    # b: sd of 0, 20, 0, 20 is 10, half-width 2: distances 3, 0, 2, 0 -> 3 of 4; both: rows 3, 4
    x = table([0, 0, 10, 10], [0, 20, 0, 20])
    z = table([1, 1.5, 10, 9], [3, 20, 2, 20])
    stats = statistics(x)
    found = finish_sd(intervals.local_sd(x, z, stats, width=0.2), stats)
    assert values(found) == {"interval_sd": 0.5}
    assert values(found, "a") == {"interval_sd": 0.75}
    assert values(found, "b") == {"interval_sd": 0.75}
    assert all(m.low is None and m.high is None for m in found)


def test_nulls_and_nominal_columns_give_no_false_comfort() -> None:
    # row 1: both null, nothing was hidden; row 2: null on one side; row 3: the same value.
    # The nominal column changed everywhere and does not protect.
    scales = [Scale.NUMERIC, Scale.NOMINAL]
    x = table([nan, nan, 1, 5], [0, 0, 0, 0], scales=scales)
    z = table([nan, 1, 1, nan], [1, 1, 1, 1], scales=scales)
    stats = statistics(x)
    found = finish_sd(intervals.local_sd(x, z, stats), stats)
    assert [(m.column, m.value) for m in found] == [(None, 0.5), ("a", 0.5)]
    cuts = [np.array([1.0, 5.0])]
    grids = ranks.finish(ranks.local(x, stats, cuts), cuts)
    found = finish_rank(intervals.local_rank(x, z, stats, grids), stats)
    assert [(m.column, m.value) for m in found] == [(None, 0.5), ("a", 0.5)]


def test_a_constant_column_is_within_only_if_unchanged() -> None:
    x, z = table([3, 3, 3, 3]), table([3, 3, 3, 3.01])
    stats = statistics(x)
    assert values(finish_sd(intervals.local_sd(x, z, stats), stats)) == {"interval_sd": 0.75}


def test_rank_intervals_by_hand() -> None:
    # ranks of 10, 20, 30, 40 are 1 .. 4; 20 -> 40 is 2 ranks; 25 stands at 2.5, 99 at 4.5
    # 10 -> 20: 1, 20 -> 40: 2, 30 -> 25: 0.5, 40 -> 99: 0.5; half-width 0.25 * 4 = 1: 3 of 4
    x, z = table([10, 20, 30, 40]), table([20, 40, 25, 99])
    stats = statistics(x)
    exact = grid(x[0].values, x[0].values)
    least, most = exact.distances(x[0].values, z[0].values)
    assert least.tolist() == most.tolist() == [1.0, 2.0, 0.5, 0.5]
    found = finish_rank(intervals.local_rank(x, z, stats, [exact], 0.25), stats)
    assert [(m.column, m.value, m.low, m.high) for m in found] == [
        (None, 0.75, None, None),
        ("a", 0.75, None, None),
    ]


def test_a_value_beside_a_frequent_one_is_close_to_it() -> None:
    # ninety zeros take ranks 1 .. 90; 0.1 stands at 90.5, 5 at 91
    column = np.concatenate([np.zeros(90), np.full(10, 5.0)])
    least, most = grid(column, np.unique(column)).distances(
        np.array([0.0, 0.0, 5.0]), np.array([0.1, 5.0, -1.0])
    )
    assert least.tolist() == most.tolist() == [0.5, 1.0, 90.5]


def test_a_cut_that_does_not_occur_is_known_exactly() -> None:
    # 2, 4, 6, 8 and a cut at 5: two values below it, so 5 stands at 2.5
    found = grid(np.array([2.0, 4.0, 6.0, 8.0]), np.array([5.0])).bounds(np.array([5.0]))
    assert found.first_low == found.first_high == found.last_low == found.last_high == 2.5


def test_few_cuts_give_bounds_and_the_value_is_the_upper_one() -> None:
    # cuts at 1 and 10 of 1 .. 10: ranks in between are 1.5 to 9.5 for all that is known.
    # 2 -> 3 may be 0 to 8 ranks apart; 4 -> 4 is surely 0; 1 -> 10 is surely 9
    column = np.arange(1.0, 11.0)
    found = grid(column, np.array([1.0, 10.0]))
    least, most = found.distances(np.array([2.0, 4.0, 1.0]), np.array([3.0, 4.0, 10.0]))
    assert least.tolist() == [0.0, 0.0, 9.0]
    assert most.tolist() == [8.0, 0.0, 9.0]
    x, z = table([2, 4, 1]), table([3, 4, 10])
    stats = statistics(x)
    share = finish_rank(intervals.local_rank(x, z, stats, [found], 0.1), stats)[0]
    assert (share.low, share.value, share.high) == (1 / 3, 2 / 3, 2 / 3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=40),
    st.lists(st.integers(-2, 22), max_size=8),
    st.integers(-3, 23) | st.floats(-3, 23),
    st.integers(-3, 23) | st.floats(-3, 23),
)
def test_bounds_hold_for_any_cuts_and_are_exact_for_all(
    cells: list[int], some: list[int], one: float, other: float
) -> None:
    column = np.array(cells, dtype=np.float64)
    pairs = (np.array([one, column[0]]), np.array([other, other]))
    truth = [nearest_ranks(column, a, b) for a, b in zip(*pairs, strict=True)]
    least, most = grid(column, np.unique(np.array(some, dtype=np.float64))).distances(*pairs)
    assert np.all(least <= truth)
    assert np.all(most >= truth)
    # cuts that do not occur among the values do no harm
    exact = grid(column, np.unique(np.concatenate([column, some])))
    for found in exact.distances(*pairs):
        assert found.tolist() == truth


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_add_up_exactly_in_any_order(blocks: int) -> None:
    x, z = pair(1)
    stats = statistics(x)
    shuffled = np.random.default_rng(2).permutation(150)
    cuts = [ranks.cuts_of(np.sort(c.values[~c.null]), 20) for c in x]
    whole = ranks.local(x, stats, cuts)
    counts = merged(lambda at: ranks.local(rows(x, shuffled[at]), stats, cuts), 150, blocks)
    np.testing.assert_array_equal(counts.counts, whole.counts)
    grids = pickle.loads(pickle.dumps(ranks.finish(counts, cuts)))
    assert [g.n for g in grids] == [int((~c.null).sum()) for c in x]

    def by_rank(at: np.ndarray) -> intervals.WithinCounts:
        return intervals.local_rank(rows(x, at), rows(z, at), stats, grids)

    def by_sd(at: np.ndarray) -> intervals.WithinCounts:
        return intervals.local_sd(rows(x, at), rows(z, at), stats)

    for local, finish in ((by_rank, finish_rank), (by_sd, finish_sd)):
        tally = merged(lambda at, local=local: local(shuffled[at]), 150, blocks)
        assert finish(tally, stats) == finish(local(np.arange(150)), stats)


def test_against_brute_force() -> None:
    x, z = pair(4)
    stats = statistics(x)
    cuts = [np.unique(c.values[~c.null]) for c in x]
    grids = ranks.finish(ranks.local(x, stats, cuts), cuts)
    within_sd, within_rank = np.zeros((2, 150, 2), dtype=bool)
    for at, (a, b) in enumerate(zip(x, z, strict=True)):
        held = a.values[~a.null]
        for row in range(150):
            if a.null[row] or b.null[row]:
                near = far = bool(a.null[row] and b.null[row])
            else:
                p, q = a.values[row], b.values[row]
                near = abs(p - q) <= 0.05 * held.std()
                far = nearest_ranks(held, p, q) <= 0.05 * held.size
            within_sd[row, at], within_rank[row, at] = near, far
    by_sd = finish_sd(intervals.local_sd(x, z, stats), stats)
    by_rank = finish_rank(intervals.local_rank(x, z, stats, grids), stats)
    for found, within in ((by_sd, within_sd), (by_rank, within_rank)):
        expected = [within.all(axis=1).mean(), *within.mean(axis=0)]
        assert [m.value for m in found] == pytest.approx(expected)
        assert all(m.low is None for m in found)


def test_cuts_are_all_values_or_quantiles() -> None:
    assert ranks.cuts_of(np.array([1.0, 1.0, 4.0]), 2).tolist() == [1.0, 4.0]
    assert ranks.cuts_of(np.arange(101.0), 5).tolist() == [0.0, 25.0, 50.0, 75.0, 100.0]
    assert ranks.cuts_of(np.zeros(0), 5).size == 0


def test_no_ordered_column_and_no_row() -> None:
    x = table([0, 1], scales=[Scale.NOMINAL])
    stats = statistics(x)
    assert ranks.finish(ranks.local(x, stats, []), []) == ()
    counts = intervals.local_sd(x, x, stats)
    assert finish_sd(counts + counts, stats) == []
    empty = table([])
    stats = statistics(empty)
    none = grid(np.zeros(0), np.zeros(0))
    counts = intervals.local_rank(empty, empty, stats, [none])
    assert values(finish_rank(counts, stats)) == {"interval_rank": 0.0}
