"""CBFS: centroid-based fixed size."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import cbfs
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Cbfs:
    """Groups of k around the record furthest from the centre of those that remain, one a round."""

    key: ClassVar[str] = "cbfs"
    title: ClassVar[str] = "CBFS, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY table 3; Laszlo and Mukherjee 2005"
    block_rows: ClassVar[int] = 65_536
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return cbfs(*arrays(points), k)
