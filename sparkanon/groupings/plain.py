"""The groupings that stand on their own, one line a method; `refined` may start from any."""

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
from sparkanon.groupings.mondrian import Mondrian
from sparkanon.groupings.mst import Mst
from sparkanon.groupings.mu_approx import MuApprox
from sparkanon.groupings.tfrp import Tfrp
from sparkanon.groupings.tfrp2 import Tfrp2
from sparkanon.groupings.vmdav import Vmdav
from sparkanon.registry import Registry

PLAIN: tuple[type[Grouping], ...] = (
    Mdav,
    Md,
    Cbfs,
    Vmdav,
    Tfrp,
    Tfrp2,
    Dba,
    Dba2,
    Mst,
    MdavMhm,
    MdMhm,
    CbfsMhm,
    NpnMhm,
    MuApprox,
    Ip,
    Ga,
    MdavGa,
    Mondrian,
)

STARTS: Registry[Grouping] = Registry("start", PLAIN)
