"""Any tree that Hypothesis can think of is saved and read as it is."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.blocks import Among, Below, Hashed, Leaf, Node, Tree
from sparkanon.errors import InputError
from sparkanon.saved import from_json, to_json

NAMES = st.text(max_size=8)
CUTS = st.one_of(
    st.builds(Below, NAMES, st.floats(allow_nan=False)),
    st.builds(Among, NAMES, st.frozensets(st.none() | NAMES, max_size=4)),
    st.builds(Hashed, st.integers(0, 40)),
)
TREES = st.builds(
    Tree,
    st.recursive(
        st.builds(Leaf), lambda inner: st.builds(Node, CUTS, inner, inner), max_leaves=20
    ),
)
NUMERIC = st.recursive(
    st.builds(Leaf),
    lambda inner: st.builds(
        Node, st.builds(Below, st.just("x"), st.floats(allow_nan=False)), inner, inner
    ),
    max_leaves=20,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_a_tree_is_read_as_it_was_saved(tree: Tree) -> None:
    again = from_json(to_json(tree))
    assert again == tree
    assert to_json(again) == to_json(tree)


@settings(max_examples=100, deadline=None)
@given(st.builds(Tree, NUMERIC), st.lists(st.floats(), min_size=1, max_size=30))
def test_a_tree_that_was_read_assigns_the_same_blocks(tree: Tree, values: list[float]) -> None:
    cells, keys = {"x": np.array(values)}, np.arange(len(values))
    again = from_json(to_json(tree))
    assert isinstance(again, Tree)
    assert (again.assign(cells, keys) == tree.assign(cells, keys)).all()


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["euclidean", "gower", "lda", "tree"]), JSON, TREES, st.data())
def test_other_json_is_refused_and_never_breaks_the_reader(
    kind: str, noise: object, tree: Tree, data: st.DataObject
) -> None:
    saved = json.loads(to_json(tree))
    at, step = {"value": saved}, "value"
    while isinstance(at[step], dict) and data.draw(st.booleans()):
        at = at[step]
        step = data.draw(st.sampled_from(sorted(at)))
    at[step] = noise
    for text in (json.dumps(saved), json.dumps({"kind": kind, "version": 1, "value": noise})):
        try:
            value = from_json(text)
        except InputError:
            continue
        assert json.loads(to_json(value))["value"] == json.loads(text)["value"]
