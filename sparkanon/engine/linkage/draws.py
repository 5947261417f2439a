"""Which records are looked for, if not all of them are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]


def draw(key: Longs, records: Longs, share: float) -> tuple[Longs, Longs]:
    """Rows to look for, and for how many records each stands; `key` is sorted.

    Nothing tells rows of one key apart, so one is looked for and stands for all. Of their records
    a number in proportion is drawn: drawn all or none, large classes would decide alone what a
    sample says. Chance decides about what is left over of a record, by the key, which is a hash:
    any cluster draws the same.
    """
    if len(key) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    size = np.add.reduceat(records, first)
    chance = key[first] / 2.0**64 + 0.5
    count = np.minimum(np.floor(size * share + chance).astype(np.int64), size)
    return first[count > 0], count[count > 0]
