"""Groups of at most 2k - 1 records from groups of any size."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.records import Bools, Floats


def bounded(
    values: Floats, caps: Floats, capped: bool, codes: Bools, k: int, labels: Ints
) -> Ints:
    """Split every group of 2k or more records by MDAV; labels 0, 1, ..., others as they are.

    `values` (d, n), `labels` (n,) with groups of at least k. O(n^2 d / k) for one large group.
    """
    sizes = np.bincount(labels)
    found, count = labels.astype(np.int32), len(sizes)
    by_group = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    for g in np.flatnonzero(sizes >= 2 * k):
        here = by_group[g]
        parts = mdav(np.ascontiguousarray(values[:, here]), caps, capped, codes, k)
        found[here] = np.where(parts == 0, g, count - 1 + parts)
        count += parts.max()
    return found
