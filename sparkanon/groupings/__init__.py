"""Who stands together: one file a method, one line in `GROUPINGS`."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
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
    ),
)

__all__ = ["GROUPINGS", "Grouping", "Mdav", "Refined", "Tfrp", "Tfrp2", "Vmdav"]
