"""Who stands together: one file a method, one line in `GROUPINGS`."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.cbfs import Cbfs
from sparkanon.groupings.ga import Ga
from sparkanon.groupings.md import Md
from sparkanon.groupings.mdav import Mdav
from sparkanon.groupings.mdav_ga import MdavGa
from sparkanon.groupings.mhm import CbfsMhm, MdavMhm, MdMhm, NpnMhm
from sparkanon.groupings.mst import Mst
from sparkanon.groupings.mu_approx import MuApprox
from sparkanon.groupings.refined import Refined
from sparkanon.registry import Registry

GROUPINGS: Registry[Grouping] = Registry(
    "grouping",
    (Mdav, Cbfs, Md, MdavMhm, MdMhm, CbfsMhm, NpnMhm, Mst, MuApprox, Ga, MdavGa, Refined),
)

__all__ = ["GROUPINGS", "Cbfs", "Grouping", "Md", "Mdav", "Refined"]
