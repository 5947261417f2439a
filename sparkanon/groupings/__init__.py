"""Who stands together: one file a method, one line in `GROUPINGS`."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.dba import Dba
from sparkanon.groupings.dba2 import Dba2
from sparkanon.groupings.ip import Ip
from sparkanon.groupings.mdav import Mdav
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
        Tfrp,
        Tfrp2,
        Dba,
        Dba2,
        Ip,
    ),
)

__all__ = [
    "GROUPINGS",
    "Dba",
    "Dba2",
    "Grouping",
    "Ip",
    "Mdav",
    "Refined",
    "Tfrp",
    "Tfrp2",
    "Vmdav",
]
