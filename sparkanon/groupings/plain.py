"""The groupings that stand on their own, one line a method; `refined` may start from any."""

from __future__ import annotations

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.mdav import Mdav
from sparkanon.registry import Registry

PLAIN: tuple[type[Grouping], ...] = (Mdav,)

STARTS: Registry[Grouping] = Registry("start", PLAIN)
