"""MDAV: maximum distance to average vector."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.mdav import mdav
from sparkanon.registry import spec


@spec
class Mdav(OneKernel):
    """Groups of k around the record furthest from the centre and the one furthest from that.

    As MDAV-generic of Domingo-Ferrer and Torra 2005: of the last 2k to 3k-1 records the k around
    the one furthest from the centre are a group and the others another; fewer are one group. The
    survey's wording leaves fewer than k over, which join the nearest group: none are left here.
    """

    key: ClassVar[str] = "mdav"
    title: ClassVar[str] = "MDAV, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.4"
    block_rows: ClassVar[int] = 65_536
    kernel = mdav
