"""Who stands together: one file a method, one line in `plain.PLAIN`."""

from __future__ import annotations

from sparkanon.groupings.base import Crossing, Grouping
from sparkanon.groupings.mdav import Mdav
from sparkanon.groupings.plain import PLAIN
from sparkanon.groupings.refined import Refined
from sparkanon.registry import Registry

GROUPINGS: Registry[Grouping] = Registry("grouping", (*PLAIN, Refined))

__all__ = ["GROUPINGS", "Crossing", "Grouping", "Mdav", "Refined"]
