"""Linkage by hand, against brute force in plain numpy, and over blocks as Spark will do it."""

from __future__ import annotations

import numpy as np
import pytest

from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.link import Linked, Longs, link, make, reaches


def brute(
    values: Floats, cls: Longs, weight: Longs, queries: Floats, query_cls: Longs,
    metric: Metric, most: Floats | None = None,
) -> Linked:  # fmt: skip
    """All distances (m, n), a coordinate at a time: the order of sums decides what ties."""
    near = np.zeros((queries.shape[1], values.shape[1]))
    for j in range(len(values)):
        gap = np.abs(queries[j][:, None] - values[j][None, :])
        near += np.minimum(gap, metric.caps[j]) if metric.capped else gap * gap
    if most is not None:
        near[near > most[:, None]] = np.inf
    best = near.min(axis=1)
    tied = (near == best[:, None]) & (near < np.inf)
    hits = (tied & (query_cls[:, None] == cls)).sum(axis=1)
    return Linked(best, hits, (tied * weight).sum(axis=1))


def run(
    values: Floats, cls: Longs, weight: Longs, queries: Floats, query_cls: Longs,
    metric: Metric, most: Floats | None = None,
) -> Linked:  # fmt: skip
    targets = make(values, metric, cls, weight)
    return link(targets, metric, queries, query_cls, most)


def assert_equal(found: Linked, expected: Linked) -> None:
    assert found.best.tolist() == expected.best.tolist()
    assert found.ties.tolist() == expected.ties.tolist()
    assert found.hits.tolist() == expected.hits.tolist()


def names(rng: np.random.Generator, n: int, classes: int) -> Longs:
    """Classes as hashes: any 64 bits."""
    hashes = rng.integers(-(2**63), 2**63 - 1, size=classes)
    return hashes[rng.integers(0, classes, n)]


def table(kind: str, d: int, n: int, m: int) -> tuple[Floats, Floats, Metric]:
    """Reference, queries and metric."""
    rng, straight = np.random.default_rng(d * 1000 + n + m), Metric.euclidean(d)
    if kind == "normal":
        return rng.normal(size=(d, n)), rng.normal(size=(d, m)), straight
    if kind == "grid":  # many exact ties
        values = rng.integers(0, 4, size=(d, n)).astype(float)
        return values, rng.integers(0, 8, size=(d, m)) / 2, straight
    if kind == "thirds":  # the same points again and again, with sums that are rounded
        values = rng.integers(0, 3, size=(d, n)) / 3
        return values, values[:, rng.integers(0, n, m)] + 0.1, straight
    if kind == "constant":
        values, queries = rng.normal(size=(d, n)), rng.normal(size=(d, m))
        values[::2], queries[::2] = 7.0, 7.0
        return values, queries, straight
    if kind == "one point":
        return np.full((d, n), 0.1), rng.normal(size=(d, m)), straight
    caps, codes = np.full(d, 1 / d), np.zeros(d, np.bool_)
    values, queries = rng.random((d, n)), rng.random((d, m))
    values[::2] = rng.integers(0, 5, size=values[::2].shape)
    queries[::2] = rng.integers(0, 6, size=queries[::2].shape)
    values[1::3][rng.random(values[1::3].shape) < 0.2] = 2.0
    return values * caps[:, None], queries * caps[:, None], Metric.manhattan(caps, codes)


KINDS = ["normal", "grid", "thirds", "constant", "one point", "capped"]
SHAPES = [(1, 700, 300), (2, 1, 40), (3, 65, 1), (5, 900, 33), (8, 3000, 500), (13, 500, 200)]


def test_credit_by_hand() -> None:
    # Query 2 is 1 from 1 (weight 3, its class) and from both points at 3 (weights 1 and 2, one
    # of its class): hits 2, ties 6. Query 9 is 6 from 3, where class 8 is not.
    values, cls = np.array([[1.0, 3, 3, -5]]), np.array([4, 4, 5, 8])
    queries, ask = np.array([[2.0, 9]]), np.array([4, 8])
    found = run(values, cls, np.array([3, 1, 2, 1]), queries, ask, Metric.euclidean(1))
    assert found.best.tolist() == [1, 36]
    assert found.hits.tolist() == [2, 0]
    assert found.ties.tolist() == [6, 3]


def test_a_limit_admits_neighbours_at_exactly_the_limit() -> None:
    values, one = np.array([[0.0, 3]]), np.array([1, 1])
    queries, most = np.array([[1.0, 1.0, 1.0]]), np.array([0.5, 1.0, 9.0])
    found = run(values, one, one, queries, np.array([1, 1, 1]), Metric.euclidean(1), most)
    assert found.best.tolist() == [np.inf, 1, 1]
    assert found.hits.tolist() == [0, 1, 1]
    assert found.ties.tolist() == [0, 1, 1]


@pytest.mark.parametrize(("d", "n", "m"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_brute_force(kind: str, d: int, n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    values, queries, metric = table(kind, d, n, m)
    pool = names(rng, n + m, max(n // 5, 1))
    args = values, pool[:n], rng.integers(1, 9, n), queries, pool[n:], metric
    expected = brute(*args)
    assert_equal(run(*args), expected)
    # Limits around the distances themselves: below, at and above the nearest, and none.
    most = expected.best * rng.choice([0.5, 1.0, 1.5], m)
    most[::4] = np.inf
    assert_equal(run(*args, most), brute(*args, most))


def test_the_distance_to_the_own_point_as_limit_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 800))
    queries = values + 0.3 * rng.normal(size=values.shape)
    cls, one = np.arange(800), np.ones(800, np.int64)
    own = np.zeros(800)
    for j in range(4):
        own += (queries[j] - values[j]) * (queries[j] - values[j])
    args = values, cls, one, queries, cls, Metric.euclidean(4)
    assert_equal(run(*args, own), run(*args))
    assert 0 < run(*args).hits.sum() < 800


def test_no_queries_and_no_reference() -> None:
    nothing, none = np.empty((3, 0)), np.empty(0, np.int64)
    some, one, metric = np.zeros((3, 2)), np.ones(2, np.int64), Metric.euclidean(3)
    assert run(some, one, one, nothing, none, metric).best.shape == (0,)
    found = run(nothing, none, none, some, one, metric)
    assert found.best.tolist() == [np.inf, np.inf]
    assert found.ties.tolist() == [0, 0]


def test_points_so_far_away_that_their_distance_overflows() -> None:
    # The bucket of the far ones must not make another one count twice.
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, size=(2, 130)).astype(float)
    values[0, 60:] = 1e200
    cls, one, metric = names(rng, 130, 9), np.ones(130, np.int64), Metric.euclidean(2)
    for order in (np.arange(130), np.arange(130)[::-1]):
        args = values[:, order], cls[order], one, values[:, :60], cls[:60], metric
        with np.errstate(over="ignore"):
            assert_equal(run(*args), brute(*args))


def test_read_only_and_strided_arrays() -> None:
    rng = np.random.default_rng(4)
    values, queries = rng.normal(size=(100, 6)).T[::2], rng.normal(size=(50, 3)).T
    cls, ask = names(rng, 200, 5)[::2], names(rng, 50, 5)
    for array in (values, queries, cls, ask):
        array.setflags(write=False)
    args = values, cls, np.ones(100, np.int64), queries, ask, Metric.euclidean(3)
    assert_equal(run(*args), brute(*args))


def test_reach_by_hand() -> None:
    # Boxes 2..4, -3..-1 and an empty one. From 0 they are 2 and 1 away: squares 4 and 1. From 3
    # they are 0 and 16. A box at exactly the distance is reached: it may hold a tie.
    low, high = np.array([[2.0], [-3], [np.inf]]), np.array([[4.0], [-1], [-np.inf]])
    queries, best = np.array([[0.0, 0, 0, 3]]), np.array([1.0, 0.9, np.inf, 0.0])
    query, block = reaches(queries, best, low, high, Metric.euclidean(1))
    assert list(zip(query.tolist(), block.tolist(), strict=True)) == [
        (0, 1), (2, 0), (2, 1), (3, 0),
    ]  # fmt: skip
    capped = Metric.manhattan(np.ones(1), np.zeros(1, np.bool_))
    query, block = reaches(queries[:, :1], np.ones(1), low, high, capped)
    assert block.tolist() == [0, 1]  # no box is further than the cap


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 4, 13])
def test_blocks_give_what_the_whole_gives(kind: str, d: int) -> None:
    n, m, blocks = 900, 300, 5
    rng = np.random.default_rng(d)
    values, queries, metric = table(kind, d, n, m)
    pool = names(rng, n + m, 150)
    cls, ask, weight = pool[:n], pool[n:], rng.integers(1, 4, n)
    whole = run(values, cls, weight, queries, ask, metric)

    # Blocks by the first column; a query is at home where it would have been put.
    edges = np.quantile(values[0], [0.2, 0.4, 0.6, 0.8])
    block_of, home = np.searchsorted(edges, values[0]), np.searchsorted(edges, queries[0])
    low, high = np.full((blocks, d), np.inf), np.full((blocks, d), -np.inf)
    for b in np.unique(block_of):
        low[b], high[b] = values[:, block_of == b].min(1), values[:, block_of == b].max(1)
    best, hits, ties = np.full(m, np.inf), np.zeros(m, np.int64), np.zeros(m, np.int64)

    def ask_block(b: int, which: Longs) -> None:
        here = block_of == b
        targets = make(values[:, here], metric, cls[here], weight[here])
        found = link(targets, metric, queries[:, which], ask[which], best[which])
        for i, q in enumerate(which):
            if found.best[i] < best[q]:
                best[q], hits[q], ties[q] = found.best[i], 0, 0
            if found.best[i] == best[q]:
                hits[q] += found.hits[i]
                ties[q] += found.ties[i]

    for b in range(blocks):
        ask_block(b, np.flatnonzero(home == b))
    query, block = reaches(queries, best, low, high, metric)
    for b in range(blocks):
        ask_block(b, query[(block == b) & (home[query] != b)])
    assert_equal(Linked(best, hits, ties), whole)
    if kind == "normal" and d == 1:
        assert len(query) < 1.2 * m  # hardly any ball leaves its block on a line
