"""Which records are looked for, if not all of them are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]


def draw(key: Longs, records: Longs, share: float) -> tuple[Longs, Longs]:
    """Rows to look for, and for how many records each stands; `key` is sorted.

    Rows of one key are equal, so one of them is looked for and stands for all. It stands for a
    number of records in proportion to theirs: if a class were drawn as a whole or not at all, a
    few large classes would decide the result. That number is rounded up or down by chance, which
    comes from the key. The key is a hash, so every cluster draws the same.
    """
    if len(key) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    size = np.add.reduceat(records, first)
    chance = key[first] / 2.0**64 + 0.5
    count = np.minimum(np.floor(size * share + chance).astype(np.int64), size)
    return first[count > 0], count[count > 0]
