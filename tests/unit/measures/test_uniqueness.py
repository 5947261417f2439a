"""Uniqueness and separation by hand and by looking at every pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparkanon.measures.uniqueness import SubsetClasses


def test_by_hand() -> None:
    # Sizes 1, 1, 3: 2 of 5 records are unique; of 10 pairs the 3 within the class are equal.
    found = SubsetClasses.of(np.array([1, 3, 1]))
    assert found == SubsetClasses(singles=2, records=5, squares=11)
    assert found.uniqueness == pytest.approx(2 / 5)
    assert found.separation == pytest.approx(7 / 10)


def test_every_pair() -> None:
    rows = np.random.default_rng(1).integers(0, 4, size=(60, 2)).tolist()
    _, sizes = np.unique(np.array(rows), axis=0, return_counts=True)
    pairs = list(combinations(rows, 2))
    found = SubsetClasses.of(sizes)
    assert found.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
    assert found.uniqueness == pytest.approx(sum(rows.count(row) == 1 for row in rows) / 60)


def test_ends() -> None:
    assert SubsetClasses.of(np.ones(9, np.int64)).uniqueness == 1.0
    assert SubsetClasses.of(np.ones(9, np.int64)).separation == 1.0
    assert SubsetClasses.of(np.array([9])).uniqueness == 0.0
    assert SubsetClasses.of(np.array([9])).separation == 0.0
    assert SubsetClasses.of(np.array([1])).separation is None
    assert SubsetClasses().uniqueness is None


def test_sets_of_classes_add_up_and_large_squares_are_exact() -> None:
    sizes = np.array([1, 1, 2, 5, 8, 10**10])
    whole = SubsetClasses.of(sizes)
    assert SubsetClasses.of(sizes[:2]) + SubsetClasses.of(sizes[2:]) == whole
    assert whole.squares == 1 + 1 + 4 + 25 + 64 + 10**20
