"""Saved values: the text by hand, and everything that must not be read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from sparkanon.blocks import Among, Below, Hashed, Leaf, Node, Tree
from sparkanon.errors import InputError
from sparkanon.json_values import from_plain, to_plain
from sparkanon.numeric.records import Bools, Floats
from sparkanon.saved import KINDS, Saved, from_json, to_json
from sparkanon.spaces.euclidean import FittedEuclidean
from sparkanon.spaces.gower import FittedGower
from sparkanon.spaces.lda import FittedLda

EUCLIDEAN = FittedEuclidean({"age": 40.1, "a.b": -0.0}, {"age": 0.1, "a.b": 5e-324}, {"age": 1.0})
LDA = FittedLda(EUCLIDEAN, ("age", "a.b"), np.array([[1.5, 1e-7], [1e-7, 1 / 3]]), 2.0, 3)
CATEGORIES = frozenset({None, "\ud800 lone", "north", 'quote"', "", "ß"})
TREE = Tree(
    Node(
        Among("town", CATEGORIES),
        Node(Below("age", -np.inf), Leaf(), Leaf()),
        Node(Hashed(3), Leaf(), Leaf()),
    )
)
EVERYTHING = (EUCLIDEAN, FittedGower({"a": 0.5}, {"a": 1e300}, {"a": 0.0}), LDA, TREE)


@pytest.mark.parametrize("value", EVERYTHING, ids=lambda value: type(value).__name__)
def test_what_is_read_is_what_was_saved(value: Saved) -> None:
    again = from_json(to_json(value))
    assert type(again) is type(value)
    assert again == value
    assert to_json(again) == to_json(value)
    assert np.signbit(from_json(to_json(EUCLIDEAN)).centres["a.b"])  # == does not see this


def test_the_kinds_are_those_that_can_be_saved() -> None:
    assert {kind.type for kind in KINDS} == set(map(type, EVERYTHING))
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_the_text_by_hand() -> None:
    tree = Tree(
        Node(Below("age", 49.5), Leaf(), Node(Among("t", frozenset("ba")), Leaf(), Leaf()))
    )
    assert json.loads(to_json(tree)) == {
        "kind": "tree",
        "version": 1,
        "value": {
            "root": {
                "type": "Node",
                "cut": {"type": "Below", "column": "age", "threshold": 49.5},
                "left": {"type": "Leaf", "block": 0},
                "right": {
                    "type": "Node",
                    "cut": {"type": "Among", "column": "t", "categories": ["a", "b"]},
                    "left": {"type": "Leaf", "block": 1},
                    "right": {"type": "Leaf", "block": 2},
                },
            }
        },
    }
    assert json.loads(to_json(LDA))["value"]["matrix"] == {
        "dtype": "float64",
        "shape": [2, 2],
        "values": [[1.5, 1e-7], [1e-7, 1 / 3]],
    }


def test_what_was_fitted_can_not_be_changed() -> None:
    for value in (LDA, from_json(to_json(LDA))):
        assert isinstance(value, FittedLda)
        with pytest.raises(ValueError, match="read-only"):
            value.matrix[0, 0] = 9.0


@pytest.mark.parametrize(
    ("array", "hint"),
    [
        (np.zeros((0, 3)), Floats),
        (np.zeros((2, 0, 3)), Floats),
        (np.array(0.1), Floats),
        (np.arange(6.0).reshape(2, 3).T, Floats),
        (np.array([np.inf, -np.inf]), Floats),
        (np.array([True, False]), Bools),
        (np.array([-(2**63), 2**63 - 1]), np.ndarray[Any, np.dtype[np.int64]]),
    ],
)
def test_arrays_of_any_shape(array: Any, hint: Any) -> None:
    again = from_plain(json.loads(json.dumps(to_plain(array, hint))), hint, "here")
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert (again == array).all()


def test_nan_is_never_saved() -> None:
    for value in (
        FittedGower({"a": np.nan}, {}, {}),
        Tree(Node(Below("a", np.nan), Leaf(), Leaf())),
    ):
        with pytest.raises(ValueError, match="NaN cannot be saved"):
            to_json(value)
    with pytest.raises(TypeError, match="float32"):
        to_plain(np.zeros(3, np.float32), Floats)


def changed(value: Saved, *path: Any, to: Any) -> str:
    """The text of the value, with something else at one place."""
    saved = json.loads(to_json(value))
    at = saved
    for step in path[:-1]:
        at = at[step]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return json.dumps(saved)


V, M, R = "value", ("value", "matrix"), ("value", "root")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "saved: is not complete JSON: line 1, column 1"),
        ("[]", "saved: must be an object with kind, version and value"),
        ('{"kind": "tree"}', "saved: must be an object with kind, version and value"),
        (changed(TREE, "extra", to=1), "saved: must be an object with kind, version and value"),
        (changed(TREE, "kind", to="os.system"), "saved.kind: is none that can be read; these"),
        (changed(TREE, "kind", to=["tree"]), "saved.kind: is none that can be read"),
        (changed(TREE, "kind", to="gower"), "saved.value: must be an object with caps and lows"),
        (changed(TREE, "version", to=2), "is 2, and this sparkanon reads up to 1; take a newer"),
        (changed(TREE, "version", to=0), "saved.version: must be a whole number from 1"),
        (changed(TREE, "version", to=True), "saved.version: must be a whole number from 1"),
        (changed(TREE, "version", to="1"), "saved.version: must be a whole number from 1"),
        (changed(TREE, V, to=np.nan), "saved: holds NaN or Infinity"),
        (changed(TREE, V, to=-np.inf), "saved: holds NaN or Infinity"),
        (changed(LDA, V, "alpha", to="nan"), "saved.value.alpha: must be a number"),
        (changed(LDA, V, "alpha", to="2.0"), "saved.value.alpha: must be a number"),
        (changed(LDA, V, "alpha", to=True), "saved.value.alpha: must be a number"),
        (changed(LDA, V, "alpha", to=2**53 + 1), "saved.value.alpha: must be a number"),
        (to_json(LDA).replace("2.0", "1e999"), "saved.value.alpha: must be a number"),
        (to_json(LDA).replace("2.0", "9" * 5000), "saved: holds a number with too many digits"),
        (changed(LDA, V, "classes", to=3.0), "saved.value.classes: must be a whole number"),
        (changed(LDA, V, "classes", to=2**63), "saved.value.classes: must be a whole number"),
        (changed(LDA, V, "names", to="ab"), "saved.value.names: must be a list"),
        (changed(LDA, V, "names", to=["a", 1]), "saved.value.names.1: must be a text"),
        (changed(LDA, V, "names", to=["a"]), "the matrix must have a row and a column for each"),
        (changed(LDA, V, "plain", to=None), "saved.value: must be an object with plain and names"),
        (changed(LDA, V, "plain", "centres", to=[]), "saved.value.plain.centres: must be an obj"),
        (changed(LDA, V, "plain", "centres", "age", to="x"), "value.plain.centres.age: must be a"),
        (changed(LDA, *M, to=[[1.0]]), "must be an object with dtype, shape and values"),
        (changed(LDA, *M, "dtype", to="object"), "saved.value.matrix.dtype: must be float64"),
        (changed(LDA, *M, "shape", to=[2, -2]), "saved.value.matrix.shape: must not be negative"),
        (changed(LDA, *M, "shape", to=[10**12, 2]), "must be nested lists of the given shape"),
        (changed(LDA, *M, "shape", to=[2]), "saved.value.matrix.values: must be a number"),
        (changed(LDA, *M, "values", 0, to=[1.0]), "must be nested lists of the given shape"),
        (changed(TREE, *R, "type", to="Tree"), "must be an object whose type is Node or Leaf"),
        (changed(TREE, *R, "type", to=["Node"]), "must be an object whose type is Node or Leaf"),
        (changed(TREE, *R, "cut", to=[]), "saved.value.root.cut: must be an object whose type is"),
        (changed(TREE, *R, "cut", "column", to=7), "saved.value.root.cut.column: must be a text"),
        (changed(TREE, *R, "cut", "categories", to=["b", "a"]), "saved.value: is not in the form"),
        (changed(TREE, *R, "cut", "categories", to=["a", "a"]), "saved.value: is not in the form"),
        (changed(TREE, *R, "left", to={"type": "Leaf", "block": 7}), "saved.value: is not in the"),
        (to_json(TREE).replace('"version": 1', '"version": 1, "version": 1'), "same key twice"),
        ("[" * 100_000, "saved: is nested too deeply"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_json(text)
    assert message in str(caught.value)
    assert "north" not in str(caught.value)


@pytest.mark.parametrize("value", EVERYTHING, ids=lambda value: type(value).__name__)
def test_a_text_that_was_cut_off_is_refused(value: Saved) -> None:
    text = to_json(value)
    for end in range(len(text)):
        with pytest.raises(InputError, match="is not complete JSON: line 1, column"):
            from_json(text[:end])


def test_deep_trees_can_be_saved() -> None:
    root: Node | Leaf = Leaf()
    for depth in range(100):
        root = Node(Below("a", float(depth)), Leaf(), root)
    assert from_json(to_json(Tree(root))) == Tree(root)
