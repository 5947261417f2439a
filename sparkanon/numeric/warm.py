"""Fill the on-disk cache of the kernels once, so that other processes only load it."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.refined import refined


def warm() -> None:
    """Run every kernel on a few records with the signatures of production, both distances."""
    values = np.arange(16.0).reshape(2, 8)
    codes = np.array([False, True])
    for capped in (False, True):
        labels, ids = np.empty(8, dtype=np.int32), np.arange(8, dtype=np.int32)
        mdav(values.copy(), ids, np.ones(2), capped, codes & capped, 2, labels, 0)
        refined(values, np.ones(2), capped, codes & capped, 2, 1)
