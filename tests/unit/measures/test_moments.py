"""IL1s, ILMetrics, MSE, eigenvalues and correlations by hand, by brute force, and in pieces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import merged, rows, statistics, table, taken, values

from sparkanon.measures import loss, moments
from sparkanon.measures.base import Measure
from sparkanon.measures.correlation import MeanAbsoluteCorrelation
from sparkanon.measures.distortion import (
    CorrelationError,
    EigenDifference,
    Il1s,
    Il1sMean,
    IlMetrics,
    Mse,
)
from sparkanon.measures.loss import GroupMeans, Il
from sparkanon.measures.moments import EachMoments, Moments, PairedMoments, PairMoments
from sparkanon.measures.ssb import Ssb
from sparkanon.numeric.records import Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics

nan = np.nan
PAIRED = (Il1s(), Il1sMean(), Mse(), IlMetrics(), EigenDifference(), CorrelationError())


def finish(tally: PairMoments, stats: list[ColumnStatistics]) -> list[Measure]:
    return taken(PAIRED, {PairedMoments(): tally}, stats)


def marginal(x: Moments, z: Moments, stats: list[ColumnStatistics]) -> list[Measure]:
    """Where nobody knows which row was whose."""
    specs = (Il(), EigenDifference(), CorrelationError())
    return taken(specs, {EachMoments(): (x, z), GroupMeans(): True}, stats, paired=False)


def measured(x: Records, z: Records) -> list[Measure]:
    stats = statistics(x)
    return finish(moments.local(x, z, stats), stats)


def pair(seed: int, n: int = 200, nulls: float = 0.0) -> tuple[Records, Records]:
    """Three correlated columns far from zero, and a noisy copy of them."""
    rng = np.random.default_rng(seed)
    mix = np.array([[1.0, 0.5, 0.2], [0.0, 2.0, -1.0], [0.3, 0.0, 4.0]])
    x = rng.normal(size=(n, 3)) @ mix + np.array([1e6, 50.0, -30.0])
    z = x + rng.normal(size=(n, 3))
    for side in (x, z):
        side[rng.random((n, 3)) < nulls] = nan
    return table(*x.T), table(*z.T)


def raw(records: Records) -> np.ndarray:
    return np.column_stack([np.where(c.null, nan, c.values) for c in records])


def brute_il_metrics(x: np.ndarray, z: np.ndarray) -> float:
    """Domingo-Ferrer and Torra's five terms, on raw values, loop by loop."""
    d = x.shape[1]
    v, w = np.cov(x.T), np.cov(z.T)
    r, q = np.corrcoef(x.T), np.corrcoef(z.T)
    means, shifted = x.mean(axis=0), z.mean(axis=0)
    upper = [(i, j) for i in range(d) for j in range(i, d)]
    strict = [(i, j) for i, j in upper if i < j]
    terms = [
        np.mean([abs(a - b) / abs(a) for a, b in zip(x.ravel(), z.ravel(), strict=True)]),
        np.mean([abs(a - b) / abs(a) for a, b in zip(means, shifted, strict=True)]),
        np.mean([abs(v[at] - w[at]) / abs(v[at]) for at in upper]),
        np.mean([abs(v[j, j] - w[j, j]) / v[j, j] for j in range(d)]),
        np.mean([abs(r[at] - q[at]) for at in strict]),
    ]
    return 100 * float(np.mean(terms))


def test_one_column_by_hand() -> None:
    # x = 2, 4, 4, 6: mean 4, variance (4 + 0 + 0 + 4) / 4 = 2, sd = sqrt(2)
    # |x - z| = 1, 1, 1, 1, so IL1s = 4 / (sqrt(2) * sqrt(2)) = 2, its mean 1/2, MSE = 1 / 2
    # z = 3, 3, 5, 5: mean 4, variance 1. Mean variations: X = (1/2 + 1/4 + 1/4 + 1/6) / 4 = 7/24,
    # mean 0, V = S = |2 - 1| / 2 = 1/2, R has no pair: 100 * (7/24 + 0 + 1/2 + 1/2 + 0) / 5
    found = values(measured(table([2, 4, 4, 6]), table([3, 3, 5, 5])))
    assert found["il1s"] == pytest.approx(2.0)
    assert found["il1s_mean"] == pytest.approx(0.5)
    assert found["mse"] == pytest.approx(0.5)
    assert found["il_metrics"] == pytest.approx(100 * (7 / 24 + 1) / 5)
    assert found["eigen_difference"] == 0.0
    assert found["correlation_error"] == 0.0


def test_correlations_and_eigenvalues_by_hand() -> None:
    # b = a: correlation 1, eigenvalues 2 and 0. Released b = -1, 1, -1, 1, a = -1, -1, 1, 1:
    # correlation 0, eigenvalues 1 and 1. The zero eigenvalue is left out: |2 - 1| / 2 = 1/2
    a = [-1, -1, 1, 1]
    x, z = table(a, a), table(a, [-1, 1, -1, 1])
    stats = statistics(x)
    tally = moments.local(x, z, stats)
    before, after = (tally.original.correlations(), tally.released.correlations())
    np.testing.assert_allclose(before, [[1, 1], [1, 1]], atol=1e-12)
    np.testing.assert_allclose(after, [[1, 0], [0, 1]], atol=1e-12)
    found = finish(tally, stats)
    assert values(found)["eigen_difference"] == pytest.approx(0.5)
    assert values(found)["correlation_error"] == pytest.approx(1.0)
    assert values(found, "a")["correlation_error"] == pytest.approx(1.0)


def test_il_by_means_of_groups_by_hand() -> None:
    # 1, 3 -> 2 and 5, 11 -> 8: SST = 16 + 4 + 0 + 36 = 56, SSB = 4 * 9 = 36, IL = 100 * 20 / 56;
    # the released rows come in another order
    x, z = table([1, 3, 5, 11]), table([8, 2, 2, 8])
    stats = statistics(x)
    sides = (moments.moments_of(x, stats), moments.moments_of(z, stats))
    found = marginal(*sides, stats)
    assert values(found)["il"] == pytest.approx(100 * 20 / 56)
    assert values(found, "a")["il"] == pytest.approx(100 * 20 / 56)
    assert set(values(found)) == {"il", "eigen_difference", "correlation_error"}


@pytest.mark.parametrize(
    "published",
    [[0.0, 3.0, 5.0, 12.0], [2.0, 2.0, 8.0]],
    ids=["more spread than the original", "another number of rows"],
)
def test_il_is_not_claimed_for_what_cannot_be_group_means(published: list[float]) -> None:
    x, z = table([1, 3, 5, 11], [1, 2, 3, 4]), table(published, [1, 2, 3, 4][: len(published)])
    stats = statistics(x)
    found = marginal(moments.moments_of(x, stats), moments.moments_of(z, stats), stats)
    assert values(found)["il"] is None
    assert values(found, "a")["il"] is None


def test_il_of_the_marginal_leaves_medians_out() -> None:
    scales = [Scale.NUMERIC, Scale.ORDINAL, Scale.NOMINAL]
    x = table([1, 3, 5, 11], [0, 1, 2, 3], [0, 1, 0, 1], scales=scales)
    z = table([2, 2, 8, 8], [0, 0, 2, 2], [0, 0, 0, 0], scales=scales)
    stats = statistics(x)
    found = marginal(moments.moments_of(x, stats), moments.moments_of(z, stats), stats)
    assert values(found)["il"] == pytest.approx(100 * 20 / 56)
    assert "il" not in values(found, "b")
    assert values(found, "c") == {}


@pytest.mark.parametrize("seed", range(3))
def test_against_brute_force(seed: int) -> None:
    x, z = pair(seed)
    a, b = raw(x), raw(z)
    sd = a.std(axis=0)
    found = measured(x, z)
    il1s = np.abs(a - b) / (np.sqrt(2) * sd)
    assert values(found)["il1s"] == pytest.approx(il1s.sum())
    assert values(found)["il1s_mean"] == pytest.approx(il1s.mean())
    assert values(found)["mse"] == pytest.approx((((a - b) / sd) ** 2).mean())
    assert values(found)["il_metrics"] == pytest.approx(brute_il_metrics(a, b))
    r, q = np.corrcoef(a.T), np.corrcoef(b.T)
    e, f = np.linalg.eigvalsh(r), np.linalg.eigvalsh(q)
    assert values(found)["eigen_difference"] == pytest.approx(np.sum(np.abs(e - f) / e))
    above = np.triu_indices(3, 1)
    assert values(found)["correlation_error"] == pytest.approx(np.abs(r - q)[above].mean())
    assert values(found, "b")["correlation_error"] == pytest.approx(
        (abs(r - q)[1, 0] + abs(r - q)[1, 2]) / 2
    )
    assert values(found, "b")["il1s"] == pytest.approx(il1s[:, 1].sum())
    assert values(found, "b")["mse"] == pytest.approx((((a - b) / sd) ** 2)[:, 1].mean())


def test_nulls_leave_out_the_cells_and_pairs_they_stand_in() -> None:
    x, z = pair(5, nulls=0.2)
    a, b = raw(x), raw(z)
    stats = statistics(x)
    tally = moments.local(x, z, stats)
    for side, matrix in ((tally.original, a), (tally.released, b)):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            both = ~np.isnan(matrix[:, i]) & ~np.isnan(matrix[:, j])
            expected = np.corrcoef(matrix[both][:, [i, j]].T)[0, 1]
            assert side.correlations()[i, j] == pytest.approx(expected)
            assert side.count[i, j] == both.sum()
    found = values(finish(tally, stats))
    sd = np.nanstd(a, axis=0)
    assert found["il1s"] == pytest.approx(np.nansum(np.abs(a - b) / (np.sqrt(2) * sd)))
    assert found["mse"] == pytest.approx(np.nanmean(((a - b) / sd) ** 2))


@pytest.mark.parametrize("blocks", [1, 2, 7])
@pytest.mark.parametrize("nulls", [0.0, 0.2])
def test_blocks_add_up_to_the_whole(blocks: int, nulls: float) -> None:
    x, z = pair(7, nulls=nulls)
    stats = statistics(x)
    whole = moments.local(x, z, stats)
    tally = merged(lambda at: moments.local(rows(x, at), rows(z, at), stats), 200, blocks)
    np.testing.assert_array_equal(tally.cells, whole.cells)
    np.testing.assert_array_equal(tally.original.count, whole.original.count)
    for found, expected in zip(
        finish(pickle.loads(pickle.dumps(tally)), stats),
        finish(whole, stats),
        strict=True,
    ):
        assert (found.measure, found.column) == (expected.measure, expected.column)
        assert found.value == pytest.approx(expected.value, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    x, z = pair(9, n=40)
    shuffled = np.random.default_rng(seed).permutation(40)
    expected = values(measured(x, z))
    found = values(measured(rows(x, shuffled), rows(z, shuffled)))
    assert found == pytest.approx(expected, rel=1e-9)


def test_an_unchanged_table_loses_nothing() -> None:
    x, _ = pair(11, nulls=0.1)
    assert set(values(measured(x, x)).values()) == {0.0}


def test_constant_columns_give_zeros() -> None:
    # 0.1 has no exact mean in floating point: neither spread nor correlation may come of that
    x = table([0.1] * 7, [1, 2, 3, 4, 5, 6, 7])
    stats = statistics(x)
    tally = moments.local(x, x, stats)
    assert tally.original.correlations().tolist() == [[0, 0], [0, 1]]
    assert {m.value for m in finish(tally, stats)} == {0.0}
    assert {m.value for m in marginal(tally.original, tally.released, stats)} == {0.0}


def test_a_release_of_one_value_has_no_correlation_left() -> None:
    # b stands at 5.3 everywhere: covariances and variance fall by 100 %, r = 1 becomes 0
    x, z = table([1, 2, 3, 4], [2, 4, 6, 8]), table([1, 2, 3, 4], [5.3] * 4)
    found = values(measured(x, z))
    assert found["correlation_error"] == pytest.approx(1.0)
    assert all(np.isfinite(value) for value in found.values() if value is not None)


def test_no_constant_is_taken_for_spread() -> None:
    # squares minus squared means of a constant leave crumbs of either sign, not always zero
    rng = np.random.default_rng(13)
    x = table(*rng.normal(size=(2, 1000)))
    for constant in rng.normal(size=20):
        z = table(x[0].values, [constant] * 1000)
        after = moments.moments_of(z, statistics(x))
        np.testing.assert_allclose(after.correlations(), [[1, 0], [0, 0]], atol=0)
        assert after.covariances()[1].tolist() == [0.0, 0.0]


def test_a_release_that_moved_does_not_look_better_for_it() -> None:
    # SST = 56, the released values spread by 36 around their own mean: 100 * 20 / 56, as unmoved
    x, z = table([1, 3, 5, 11]), table([3, 3, 9, 9])
    stats = statistics(x)
    found = marginal(moments.moments_of(x, stats), moments.moments_of(z, stats), stats)
    assert values(found)["il"] == pytest.approx(100 * 20 / 56)


def test_zero_denominators_are_left_out() -> None:
    # X: cells 0 are left out, |1-2|/1 and |-1+2|/1 are 1; the mean is 0 and left out;
    # V = S: 2/3 becomes 8/3, |2/3 - 8/3| / (2/3) = 3; so 100 * (1 + 0 + 3 + 3 + 0) / 5
    found = values(measured(table([-1, 0, 1]), table([-2, 0, 2])))
    assert found["il_metrics"] == pytest.approx(140.0)


def test_without_ordered_columns_nothing_is_measured() -> None:
    x = table([0, 1, 1], scales=[Scale.NOMINAL])
    stats = statistics(x)
    tally = moments.local(x, x, stats)
    assert all(spec.ordered for spec in PAIRED), "these are left out with that reason"
    answers = {EachMoments(): (tally.original, tally.released), GroupMeans(): True}
    assert taken((Il(),), answers, stats, paired=False) == []


def test_an_empty_table_and_a_column_of_nulls() -> None:
    assert set(values(measured(table([], []), table([], []))).values()) == {0.0}
    gone = table([nan, nan, nan], [1, 2, 3])
    assert set(values(measured(gone, gone)).values()) == {0.0}


def test_between_groups_and_within_make_the_total_by_hand() -> None:
    # 1, 3 -> 2 and 5, 11 -> 8 around 5: SSB = 2 * 9 + 2 * 9 = 36, of 56 in all; the variance is 14
    x, z = table([1, 3, 5, 11]), table([2, 2, 8, 8])
    stats = statistics(x)
    (found, column) = taken((Ssb(),), {PairedMoments(): moments.local(x, z, stats)}, stats)
    assert found.value == column.value == pytest.approx(36 / 14)
    known = {loss.SquaredErrors(): loss.merge([loss.local(x, z, stats)])}
    sse, sst = (taken((spec,), known, stats)[0].value for spec in (loss.Sse(), loss.Sst()))
    assert (sse or 0.0) + (found.value or 0.0) == pytest.approx(sst)


def test_mean_absolute_correlation_by_hand() -> None:
    # a = c, and b is independent of both: |r| = 0, 1, 0
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    x = table(a, b, a)
    tally = moments.local(x, x, statistics(x))
    (found,) = taken((MeanAbsoluteCorrelation(),), {PairedMoments(): tally}, statistics(x))
    assert found.value == pytest.approx(1 / 3)
    alone = table(a)
    tally = moments.local(alone, alone, statistics(alone))
    assert taken((MeanAbsoluteCorrelation(),), {PairedMoments(): tally}, statistics(alone)) == []
