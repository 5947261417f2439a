"""MDAV: maximum distance to average vector."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Mdav:
    """Groups of k around the record furthest from the centre and the one furthest from that.

    As MDAV-generic of Domingo-Ferrer and Torra 2005: of the last 2k to 3k-1 records the k around
    the one furthest from the centre are a group and the others another; fewer are one group. The
    survey's wording leaves fewer than k over, which join the nearest group: none are left here.
    """

    key: ClassVar[str] = "mdav"
    title: ClassVar[str] = "MDAV, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.4"
    block_rows: ClassVar[int] = 65_536
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return mdav(*arrays(points), k)
