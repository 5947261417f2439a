"""Who stands together: one file a method, one line in `GROUPINGS`."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.mdav import Mdav
from sparkanon.groupings.mondrian import Mondrian
from sparkanon.groupings.refined import Refined
from sparkanon.registry import Registry

GROUPINGS: Registry[Grouping] = Registry("grouping", (Mdav, Refined, Mondrian))

__all__ = ["GROUPINGS", "Grouping", "Mdav", "Mondrian", "Refined"]
