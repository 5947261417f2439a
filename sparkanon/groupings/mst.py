"""M-d: a minimum spanning tree without its heaviest edges."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mst import mst
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Mst:
    """The trees that are left when the heaviest edges are cut, wherever both sides keep k records.

    Trees of 2k records or more are split by MD, the 'd' (diameter) of M-d.
    """

    key: ClassVar[str] = "mst"
    title: ClassVar[str] = "M-d, minimum spanning tree without its heaviest edges"
    source: ClassVar[str] = "SURVEY table 3; Laszlo and Mukherjee 2005"
    block_rows: ClassVar[int] = 20_000
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return mst(*arrays(points), k)
