"""Fill the on-disk cache of the kernels once, so that other processes only load it."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.link import link, make, reaches
from sparkanon.numeric.mdav import mdav
from sparkanon.numeric.peel import peel
from sparkanon.numeric.points import Points
from sparkanon.numeric.refined import refined
from sparkanon.numeric.synthetic import synthetic


def warm() -> None:
    """Run every kernel on a few records with the signatures of production, both distances."""
    values = np.arange(24.0).reshape(2, 12)
    codes = np.array([False, True])
    for points in (Points.euclidean(values), Points(values, np.ones(2), codes)):
        mdav(*arrays(points), 2)
        peel(*arrays(points), 2)
        refined(*arrays(points), 2, 1)
        values, caps, capped, _ = arrays(points)
        cls, best = np.arange(points.n), np.ones(points.n)
        link(make(values, caps, capped, cls, cls), caps, capped, values, cls, best)
        reaches(values, best, values[:, :3].T, values[:, :3].T, caps, capped)
    null, order = np.zeros(values.shape, np.bool_), np.arange(12, dtype=np.int32)
    synthetic(values, null, null, order, np.array([0, 5, 12], np.int32), values)
