"""Mondrian: halves of halves, as long as both sides stay safe."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mondrian import mondrian
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Mondrian:
    """Strict multidimensional partitioning of LeFevre, DeWitt and Ramakrishnan 2006.

    A part is cut at the median of the column whose range is widest, as a share of its range in
    the block; the next column is tried where that cut would leave fewer than k records, or break
    an l-diversity or t-closeness of the policy, on either side. Records with equal values stay
    together, so a group can be larger than 2k - 1. Categories are cut in sorted order.
    """

    key: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Mondrian, strict: halves at the median of the widest column"
    source: ClassVar[str] = "PKA 5.3; LeFevre et al. 2006"
    block_rows: ClassVar[int] = 131_072
    bounded: ClassVar[bool] = False
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        values, _ = arrays(points)
        return mondrian(values, k, points.guard)
