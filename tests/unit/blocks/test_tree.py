"""The block tree: balanced, tie-aware, never below the floor, the same whatever the order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.blocks import Among, Below, Hashed, Leaf, Node, Sample, Tree, fit_tree
from sparkanon.numeric.records import Column, Scale


def numeric(name: str, values: np.ndarray, null: np.ndarray | None = None) -> Column:
    null = np.zeros(len(values), dtype=bool) if null is None else null
    return Column(name, Scale.NUMERIC, np.where(null, 0.0, values).astype(float), null)


def keys_of(n: int) -> np.ndarray:
    return np.sort(np.random.default_rng(5).integers(-(2**63), 2**63 - 1, n))


def sizes(tree: Tree, sample: Sample) -> np.ndarray:
    cells = {}
    for column in sample.records:
        if column.scale is Scale.NOMINAL:
            names = np.array(sample.categories[column.name], dtype=object)
            cells[column.name] = np.where(column.null, None, names[column.values.astype(int)])
        else:
            cells[column.name] = np.where(column.null, np.nan, column.values)
    return np.bincount(tree.assign(cells, sample.keys), minlength=tree.blocks)


def test_the_widest_column_is_cut_at_its_median() -> None:
    wide, narrow = np.arange(100.0), np.arange(100.0) % 3
    sample = Sample((numeric("n", narrow), numeric("w", wide)), {}, keys_of(100))
    tree = fit_tree(sample, {"n": 1.0, "w": 1.0}, 100, 50, 1)
    assert isinstance(tree.root, Node)
    assert tree.root.cut == Below("w", 49.5)
    assert sizes(tree, sample).tolist() == [50, 50]


def test_cuts_can_lie_aside_of_the_median() -> None:
    names = [f"c{i}" for i in range(10)]
    code = (np.arange(100) // 10).astype(float)
    nominal = Column("n", Scale.NOMINAL, code, np.zeros(100, dtype=bool))
    cases = (
        Sample((numeric("w", np.arange(100.0)),), {}, keys_of(100)),
        Sample((nominal,), {"n": names}, keys_of(100)),
    )
    for sample in cases:
        units = {sample.records[0].name: 1.0}
        tree = fit_tree(sample, units, 100, 60, 1, share=0.3)
        assert sizes(tree, sample).tolist() == [30, 70]


def test_units_decide_what_is_wide() -> None:
    sample = Sample(
        (numeric("a", np.arange(100.0)), numeric("b", np.arange(100.0) * 5)), {}, keys_of(100)
    )
    tree = fit_tree(sample, {"a": 0.01, "b": 1.0}, 100, 50, 1)
    assert isinstance(tree.root, Node)
    assert isinstance(tree.root.cut, Below)
    assert tree.root.cut.column == "a"
    ignored = fit_tree(sample, {"a": 0.0, "b": 1.0}, 100, 50, 1)
    assert isinstance(ignored.root, Node)
    assert isinstance(ignored.root.cut, Below)
    assert ignored.root.cut.column == "b"


def test_a_point_mass_is_not_parted_and_does_not_swallow_the_table() -> None:
    values = np.concatenate([np.zeros(700), np.arange(1.0, 301.0)])
    other = np.tile(np.arange(10.0), 100)
    sample = Sample((numeric("x", values), numeric("y", other)), {}, keys_of(1000))
    tree = fit_tree(sample, {"x": 1.0, "y": 1.0}, 1000, 250, 10)
    found = sizes(tree, sample)
    assert found.sum() == 1000
    assert found.max() <= 300
    assert found.min() >= 10


def test_equal_records_are_cut_by_their_key() -> None:
    sample = Sample((numeric("x", np.ones(1000)),), {}, keys_of(1000))
    tree = fit_tree(sample, {"x": 1.0}, 100_000, 30_000, 100)
    assert isinstance(tree.root, Node)
    assert tree.root.cut == Hashed(0)
    assert tree.blocks == 4
    assert sizes(tree, sample).min() > 150


def test_categories_and_nulls_can_be_cut() -> None:
    codes = np.repeat([0.0, 1.0, 2.0, 3.0], [400, 300, 200, 100])
    nominal = Column("c", Scale.NOMINAL, codes, np.zeros(1000, dtype=bool))
    sample = Sample((nominal,), {"c": ["p", "q", "r", "s"]}, keys_of(1000))
    tree = fit_tree(sample, {"c": 1.0}, 1000, 600, 10)
    assert isinstance(tree.root, Node)
    assert tree.root.cut == Among("c", frozenset({"p"}))
    assert sizes(tree, sample).tolist() == [400, 600]
    half_null = numeric("x", np.ones(1000), np.arange(1000) % 2 == 0)
    sample = Sample((half_null,), {}, keys_of(1000))
    tree = fit_tree(sample, {"x": 1.0}, 1000, 600, 10)
    assert sizes(tree, sample).tolist() == [500, 500]


def test_small_blocks_are_merged_with_their_sibling() -> None:
    tree = Tree(
        Node(
            Below("a", 0.0),
            Node(Below("a", -5.0), Leaf(), Leaf()),
            Node(Hashed(0), Leaf(), Leaf()),
        )
    )
    assert tree.blocks == 4
    merged = tree.without(frozenset({0}))
    assert merged.blocks == 3
    values = {"a": np.array([-9.0, -1.0, 3.0])}
    assert merged.assign(values, np.array([0, 0, 1])).tolist() == [0, 0, 2]
    assert tree.without(frozenset({0, 1, 2, 3})).blocks == 1


@given(
    values=st.lists(st.sampled_from([0.0, 1.0, 1.5, 7.0, 1e9]), min_size=60, max_size=400),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_any_column_any_ties(values: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    null = rng.random(len(values)) < 0.2
    sample = Sample(
        (numeric("x", np.array(values), null), numeric("y", rng.integers(0, 3, len(values)))),
        {},
        keys_of(len(values)),
    )
    tree = fit_tree(sample, {"x": 1.0, "y": 1.0}, len(values), 30, 10)
    found = sizes(tree, sample)
    assert found.sum() == len(values)
    assert found.min() >= (10 if tree.blocks > 1 else 0)
    order = rng.permutation(len(values))
    shuffled = Sample(
        tuple(Column(c.name, c.scale, c.values[order], c.null[order]) for c in sample.records),
        {},
        sample.keys[order],
    )
    assert fit_tree(shuffled, {"x": 1.0, "y": 1.0}, len(values), 30, 10) == tree


def test_thresholds_are_no_cells() -> None:
    cells = np.array([1.0, 2.0, 4.0, 8.0] * 20)
    sample = Sample((numeric("x", cells),), {}, keys_of(80))
    tree = fit_tree(sample, {"x": 1.0}, 80, 25, 1)
    thresholds = []
    todo = [tree.root]
    while todo:
        at = todo.pop()
        if isinstance(at, Node):
            assert isinstance(at.cut, Below)
            thresholds.append(at.cut.threshold)
            todo += [at.left, at.right]
    assert thresholds
    assert not set(thresholds) & set(cells)


@pytest.mark.parametrize("rows", [99, 100, 101, 5000])
def test_no_block_is_larger_than_asked_but_for_slack(rows: int) -> None:
    values = np.random.default_rng(0).normal(size=rows)
    sample = Sample((numeric("x", values),), {}, keys_of(rows))
    tree = fit_tree(sample, {"x": 1.0}, rows, 100, 10)
    assert sizes(tree, sample).max() <= 120
