"""Fill the on-disk cache of the kernels once, so that other processes only load it."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.dba import dba2
from sparkanon.numeric.ip import ip
from sparkanon.numeric.link import link, make, reaches
from sparkanon.numeric.md import md
from sparkanon.numeric.mdav import cbfs, mdav
from sparkanon.numeric.mdav_ga import mdav_ga
from sparkanon.numeric.mhm import mhm, npn_mhm
from sparkanon.numeric.mst import mst
from sparkanon.numeric.mu_approx import mu_approx
from sparkanon.numeric.peel import peel
from sparkanon.numeric.points import Points
from sparkanon.numeric.refined import refined
from sparkanon.numeric.tfrp import tfrp2
from sparkanon.numeric.vmdav import vmdav


def warm() -> None:
    """Run every kernel on a few records with the signatures of production, both distances."""
    values = np.arange(24.0).reshape(2, 12)
    codes = np.array([False, True])
    for points in (Points.euclidean(values), Points(values, np.ones(2), codes)):
        for method in (mdav, cbfs, md, npn_mhm, mst, mu_approx):
            method(*arrays(points), 2)
        mhm(mdav, *arrays(points), 2)
        mdav_ga(*arrays(points), 2, 4, 4, 2, 0.5, 0.5, np.random.default_rng(0))
        peel(*arrays(points), 2)
        refined(*arrays(points), 2, 1)
        vmdav(*arrays(points), 2, None)
        for method in (tfrp2, dba2, ip):
            method(*arrays(points), 2)
        values, caps, capped, _ = arrays(points)
        cls, best = np.arange(points.n), np.ones(points.n)
        link(make(values, caps, capped, cls, cls), caps, capped, values, cls, best)
        reaches(values, best, values[:, :3].T, values[:, :3].T, caps, capped)
