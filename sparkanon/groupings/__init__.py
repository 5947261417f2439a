"""Who stands together: one file a method, one line in `GROUPINGS`."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.cbfs import Cbfs
from sparkanon.groupings.dba import Dba
from sparkanon.groupings.dba2 import Dba2
from sparkanon.groupings.ga import Ga
from sparkanon.groupings.ip import Ip
from sparkanon.groupings.md import Md
from sparkanon.groupings.mdav import Mdav
from sparkanon.groupings.mdav_ga import MdavGa
from sparkanon.groupings.mhm import CbfsMhm, MdavMhm, MdMhm, NpnMhm
from sparkanon.groupings.mst import Mst
from sparkanon.groupings.mu_approx import MuApprox
from sparkanon.groupings.refined import Refined
from sparkanon.groupings.tfrp import Tfrp
from sparkanon.groupings.tfrp2 import Tfrp2
from sparkanon.groupings.vmdav import Vmdav
from sparkanon.registry import Registry

GROUPINGS: Registry[Grouping] = Registry(
    "grouping",
    (
        Mdav,
        Refined,
        Vmdav,
        Cbfs,
        Md,
        Tfrp,
        Tfrp2,
        Dba,
        Dba2,
        Ip,
        Mst,
        MuApprox,
        MdavMhm,
        MdMhm,
        CbfsMhm,
        NpnMhm,
        Ga,
        MdavGa,
    ),
)

__all__ = [
    "GROUPINGS",
    "Cbfs",
    "CbfsMhm",
    "Dba",
    "Dba2",
    "Ga",
    "Grouping",
    "Ip",
    "Md",
    "MdMhm",
    "Mdav",
    "MdavGa",
    "MdavMhm",
    "Mst",
    "MuApprox",
    "NpnMhm",
    "Refined",
    "Tfrp",
    "Tfrp2",
    "Vmdav",
]
