"""MD: maximum distance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.md import md
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Md:
    """Groups of k around the two records that are furthest apart of all that remain.

    The one further from the centre goes first; of 2k to 3k-1 remaining records only that one gets
    a group of k, the others are one group.
    """

    key: ClassVar[str] = "md"
    title: ClassVar[str] = "MD, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY table 3; Domingo-Ferrer and Mateo-Sanz 2002"
    block_rows: ClassVar[int] = 20_000
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return md(*arrays(points), k)
