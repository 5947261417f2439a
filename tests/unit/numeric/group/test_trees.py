"""Spanning trees, forests and cuts, by hand and against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import distance_matrix
from test_fixed_size import gower

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.group.mst import mst, spanning_tree
from sparkanon.numeric.group.mu_approx import forest, mu_approx
from sparkanon.numeric.group.trees import cut_heaviest
from sparkanon.numeric.members import break_up
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Labels


def components(n: int, edges: list[tuple[int, int]]) -> list[frozenset[int]]:
    """The trees of a forest, by merging sets."""
    trees = {i: frozenset([i]) for i in range(n)}
    for a, b in edges:
        merged = trees[a] | trees[b]
        trees.update(dict.fromkeys(merged, merged))
    return [trees[i] for i in range(n)]


def brute_cut(parent: Labels, weight: Floats, k: int) -> list[frozenset[int]]:
    """Try every edge, heaviest first, by looking at the two trees it would leave."""
    n = len(parent)
    edges = [(v, int(parent[v])) for v in range(n) if parent[v] >= 0]
    for v, up in sorted(edges, key=lambda edge: (-weight[edge[0]], edge[0])):
        without = [edge for edge in edges if edge != (v, up)]
        trees = components(n, without)
        if min(len(trees[v]), len(trees[up])) >= k:
            edges = without
    return components(n, edges)


def test_tree_of_a_line_by_hand() -> None:
    # 0 2 3 7: from 0 to 2 (4 away, squared), 3 hangs on 2 (1), 7 on 3 (16).
    parent, weight = spanning_tree(np.array([[0.0, 7, 3, 2]]), Metric.euclidean(1))
    assert parent.tolist() == [-1, 2, 3, 0]
    assert weight.tolist() == [0.0, 16.0, 1.0, 4.0]


@pytest.mark.parametrize("n", [2, 37, 150])
def test_the_tree_is_as_short_as_kruskals(n: int) -> None:
    rng = np.random.default_rng(n)
    for points in (Points.euclidean(rng.normal(size=(3, n))), gower(rng, n)):
        values, metric = arrays(points)
        parent, weight = spanning_tree(values, metric)
        edges = [(v, int(parent[v])) for v in range(1, n)]
        assert len(components(n, edges)[0]) == n
        between, kruskal, trees = distance_matrix(points), 0.0, list(range(n))
        assert [weight[v] for v, _ in edges] == pytest.approx([between[edge] for edge in edges])
        rows, columns = np.triu_indices(n, 1)
        for at in np.argsort(between[rows, columns]):
            a, b = trees[rows[at]], trees[columns[at]]
            if a != b:
                kruskal += between[rows[at], columns[at]]
                trees = [a if tree == b else tree for tree in trees]
        assert weight.sum() == pytest.approx(kruskal)


def test_a_heavy_edge_to_fewer_than_k_stays_by_hand() -> None:
    # The chain 0 - 1 - 2 - 3 - 4 - 5 - 6, k = 2. The heaviest edge hangs 6 on 5 and would leave it
    # alone: it stays. The edge 1 - 2 is cut, then 2 - 3 would leave 2 alone, 3 - 4 is cut.
    parent = np.array([-1, 0, 1, 2, 3, 4, 5], np.int32)
    weight = np.array([0.0, 1.0, 8.0, 7.0, 6.0, 1.0, 9.0])
    assert cut_heaviest(parent, weight, 2).tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_cuts_equal_brute_force(k: int) -> None:
    rng = np.random.default_rng(k)
    for n in (5, 60, 90):
        parent = np.array([-1] + [rng.integers(max(0, v - 9), v) for v in range(1, n)], np.int32)
        shuffled = rng.permutation(n)  # a parent may have any index
        moved = np.full(n, -1, np.int32)
        moved[shuffled[1:]] = shuffled[parent[1:]]
        weight = rng.integers(0, 20, n).astype(float)
        labels = cut_heaviest(moved, weight, k)
        found = [frozenset(np.flatnonzero(labels == label).tolist()) for label in labels]
        assert found == brute_cut(moved, weight, k)


def test_a_forest_grows_until_all_trees_have_k_by_hand() -> None:
    # 0 1 3 | 10 11, k = 2, mean 5. Of 0 and 1 the outer hangs on the inner, of 10 and 11 too; then
    # 1 and 10 are roots of two, enough. 3 hangs on 1 (4 away).
    values = np.array([[0.0, 1, 3, 10, 11]])
    index = buckets_of(values, Metric.euclidean(1))
    parent, weight = forest(index, values, Metric.euclidean(1), 2, (values[0] - 5) ** 2)
    assert parent.tolist() == [1, -1, 1, -1, 3]
    assert weight.tolist() == [1.0, 0.0, 4.0, 0.0, 1.0]


def test_the_order_of_the_rows_does_not_matter_for_trees() -> None:
    rng = np.random.default_rng(13)
    values, shuffled = rng.normal(size=(3, 400)), rng.permutation(400)
    for method in (md, mst, mu_approx):
        labels = method(*arrays(Points.euclidean(values)), 4)
        again = method(*arrays(Points.euclidean(values[:, shuffled])), 4)
        both = np.unique(np.column_stack([labels[shuffled], again]), axis=0)
        assert len(both) == labels.max() + 1 == again.max() + 1


@pytest.mark.parametrize("k", [2, 5, 9])
def test_a_forest_has_trees_of_k_and_hangs_roots_on_their_nearest_other(k: int) -> None:
    rng = np.random.default_rng(k)
    for points in (Points.euclidean(rng.normal(size=(2, 1100))), gower(rng, 300)):
        values, metric = arrays(points)
        index = buckets_of(values, metric)
        parent, weight = forest(index, values, metric, k, values[0] ** 2)
        trees = components(points.n, [(v, int(up)) for v, up in enumerate(parent) if up >= 0])
        assert min(len(tree) for tree in trees) >= k
        between = distance_matrix(points)
        hung = np.flatnonzero(parent >= 0)
        assert weight[hung] == pytest.approx(between[hung, parent[hung]])
        # a tree has fewer than k records when its root looks for another: one of its k nearest
        rank = (between[hung] < weight[hung, None] - 1e-12).sum(axis=1)
        assert rank.max() < k
        if k == 2:  # then a tree that looks is a single record: all go to their very nearest
            np.fill_diagonal(between, np.inf)
            assert weight[hung] == pytest.approx(between[hung].min(axis=1))


def test_only_large_groups_are_broken_up_by_hand() -> None:
    # k = 2: the four records 0 1 8 9 of label 1 are split, the three others stay.
    points = Points.euclidean(np.array([[0.0, 50, 8, 51, 1, 52, 9]]))
    labels = np.array([1, 0, 1, 0, 1, 0, 1], np.int32)
    assert break_up(md, *arrays(points), 2, labels).tolist() == [1, 0, 2, 0, 1, 0, 2]


def test_clusters_of_any_size_are_found() -> None:
    # Three clusters of 3, 4 and 5 records, k = 3: what a fixed size can not give.
    values = np.array([[0.0, 1, 2, 100, 101, 102, 103, 200, 201, 202, 203, 204]])
    for method in (mst, mu_approx):
        labels = method(*arrays(Points.euclidean(values)), 3)
        assert np.bincount(labels).tolist().count(3) == 1
        assert sorted(np.bincount(labels)) == [3, 4, 5]
        assert (np.diff(labels) != 0).sum() == 2
