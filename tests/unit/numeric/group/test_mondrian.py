"""Mondrian's cuts, by hand and by what a strict partition must look like."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.group.mondrian import mondrian
from sparkanon.numeric.guard import no_guard


def groups(values: list[list[float]], k: int) -> list[list[int]]:
    labels = mondrian(np.array(values, dtype=np.float64), k, no_guard())
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


def test_cut_at_the_median_of_the_widest_column() -> None:
    # both columns fill their range in the whole; the first one wins, then in the halves the
    # second spans all of its range and the first less than half
    wide = [0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 10.0]
    other = [0.0, 5.0, 0.5, 5.5, 0.2, 5.2, 0.7, 5.7]
    assert groups([wide, other], 2) == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_equal_values_stay_together() -> None:
    values = [[1.0] * 5 + [2.0] * 2]
    assert groups(values, 2) == [[0, 1, 2, 3, 4], [5, 6]]
    assert groups([[1.0] * 6 + [2.0]], 2) == [[0, 1, 2, 3, 4, 5, 6]]  # no cut leaves two


def test_cut_below_the_median_where_above_leaves_too_few() -> None:
    assert groups([[1.0, 1.0, 5.0, 5.0, 5.0]], 2) == [[0, 1], [2, 3, 4]]


def test_the_next_column_where_the_widest_cannot_be_cut() -> None:
    # the first column is widest as a share, but only one record stands apart in it
    values = [[0.0, 0.0, 0.0, 0.0, 0.0, 9.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
    assert groups(values, 3) == [[0, 1, 2], [3, 4, 5]]


def test_no_group_could_still_be_cut() -> None:
    rng = np.random.default_rng(3)
    values, k = rng.integers(0, 12, size=(2, 500)).astype(float), 3
    for members in groups(values.tolist(), k):
        for row in values[:, members]:
            median = np.sort(row)[(len(row) - 1) // 2]
            for left in ((row <= median).sum(), (row < median).sum()):
                assert not k <= left <= len(row) - k
