"""Ranges, sets and words of a taxonomy, as arrays; the text is tested on Spark."""

from __future__ import annotations

import numpy as np
import pytest

from sparkanon.numeric.records import Column, Scale
from sparkanon.releases.base import Asked, Generalized, Grouped
from sparkanon.releases.generalize import Generalize, lowest_word

TREE = {"any": {"school": ["primary", "secondary"], "university": {"degree": ["ba", "ma"]}}}
LABELS = np.array([0, 0, 1, 1, 2, 2], np.int32)
RNG = np.random.default_rng(0)


def spans(scale: Scale, values: list[float], null: list[int] | None = None) -> Generalized:
    marks = np.array(null or [0] * 6, np.bool_)
    column = Column("c", scale, np.where(marks, 0.0, np.array(values)), marks)
    (found,) = Generalize().publish((column,), Grouped(LABELS, RNG))
    assert isinstance(found, Generalized)
    return found


def test_ends_of_ranges() -> None:
    found = spans(Scale.NUMERIC, [3, 1, 5, 5, -2, 8])
    assert found.low.tolist() == [1, 5, -2]
    assert found.high.tolist() == [3, 5, 8]
    assert not found.hidden.any()


def test_nulls_hide_a_range() -> None:
    found = spans(Scale.NUMERIC, [3, 1, 5, 5, 0, 0], [0, 1, 0, 0, 1, 1])
    assert found.hidden.tolist() == [True, False, True]
    assert found.null.tolist() == [False, False, True]
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.high).all()


def test_members_of_sets() -> None:
    found = spans(Scale.NOMINAL, [2, 0, 1, 1, 3, 0])
    assert found.members is not None
    assert [codes.tolist() for codes in found.members] == [[0, 2], [1], [0, 3]]


def test_members_beside_a_group_with_nulls() -> None:
    """Its codes may be above all that are published."""
    found = spans(Scale.NOMINAL, [9, 0, 1, 0, 1, 1], [0, 1, 0, 0, 0, 0])
    assert found.hidden.tolist() == [True, False, False]
    assert found.members is not None
    assert [codes.tolist() for codes in found.members][1:] == [[0, 1], [1]]


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (["primary", "secondary"], "school"),
        (["ba", "ma"], "degree"),
        (["ba"], "ba"),
        (["ba", "primary"], "any"),
    ],
)
def test_lowest_word_above_all(values: list[str], word: str) -> None:
    ways = {
        "primary": ("any", "school", "primary"),
        "secondary": ("any", "school", "secondary"),
        "ba": ("any", "university", "degree", "ba"),
        "ma": ("any", "university", "degree", "ma"),
    }
    assert lowest_word([ways[value] for value in values]) == word
    assert Generalize(taxonomies={"c": TREE}).allowed("c") == tuple(ways)


def test_two_roots_share_nothing() -> None:
    assert lowest_word([("a", "x"), ("b", "y")]) == "*"


@pytest.mark.parametrize(
    ("tree", "reported"),
    [
        ({"a": ["x", "x"]}, "twice"),
        ({"a": {}}, "nothing under it"),
        ({"a": "x"}, "words over words"),
        ({"a": [["x"]]}, "plain values"),
    ],
)
def test_broken_taxonomies(tree: dict[str, object], reported: str) -> None:
    (problem,) = Generalize(taxonomies={"c": tree}).problems(Asked(["c"], 5, others=True))
    assert problem.path == "taxonomies.c"
    assert reported in problem.message


def test_taxonomy_of_no_quasi_identifier() -> None:
    (problem,) = Generalize(taxonomies={"d": TREE}).problems(Asked(["c"], 5, others=True))
    assert "no quasi-identifier" in problem.message
