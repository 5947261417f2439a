"""DBA-2: the densest neighbourhood first, then groups are dissolved where that pays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.dba import dba2
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Dba2:
    """DBA-1, then the costliest groups give their records to the nearest others if cost falls.

    As TFRP-2, but a group may grow without limit before those of 2k or more are cut by MDAV
    (SURVEY 3.3). This gives the survey's figures to the last digit.
    """

    key: ClassVar[str] = "dba2"
    title: ClassVar[str] = "DBA-2, density-based, costly groups dissolved"
    source: ClassVar[str] = "SURVEY 3.3"
    block_rows: ClassVar[int] = 20_000
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return dba2(*arrays(points), k)
