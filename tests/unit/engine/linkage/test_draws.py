"""Which records are looked for: the same ones for any cluster, and in proportion."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparkanon.engine.linkage.draws import draw

KEYS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40)


def test_all_of_them() -> None:
    """Rows of one key are looked for once, for all their records."""
    key = np.array([-5, 2, 2, 9], np.int64)
    rows, count = draw(key, np.array([1, 3, 4, 2], np.int64), 1.0)
    assert rows.tolist() == [0, 1, 3]
    assert count.tolist() == [1, 7, 2]


def test_large_ones_are_drawn_in_part() -> None:
    """0.1 of 1,000 records are 100, whatever the hash says of the rest; of one, 0 or 1."""
    least, most = -(2**63), 2**63 - 1
    for key, of_one in ((least, 0), (most, 1)):
        keys = np.array([key], np.int64)
        assert draw(keys, np.array([1000], np.int64), 0.1)[1].tolist() in ([100], [101])
        assert draw(keys, np.array([1], np.int64), 0.1)[1].sum() == of_one


@given(KEYS, st.floats(0.01, 1.0), st.integers(0, 99))
def test_a_draw_is_a_share_of_each_key(listed: list[int], share: float, seed: int) -> None:
    key = np.array(sorted(listed), np.int64)
    records = np.random.default_rng(seed).integers(1, 50, len(key))
    rows, count = draw(key, records, share)
    sizes = {int(k): int(records[key == k].sum()) for k in key}
    assert len({int(k) for k in key[rows]}) == len(rows)
    for k, n in zip(key[rows], count, strict=True):
        assert 0 < n <= sizes[int(k)]
        assert abs(n - sizes[int(k)] * share) <= 1 + 1e-9
