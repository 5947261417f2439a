"""TFRP-1: two fixed reference points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.tfrp import tfrp
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Tfrp:
    """Groups of k around the record furthest from one of two fixed points, in turn.

    The survey calls the reference points extreme points of the data (3.5). Taken are the points
    whose coordinates are all the least, and all the largest, of all z-scores, the first of them
    first: this gives its figures to the last digit. For a capped distance (`gower`) they are the
    records nearest to the corner of all least and of all largest values. Fewer than k leftovers
    go one by one to the nearest group.
    """

    key: ClassVar[str] = "tfrp"
    title: ClassVar[str] = "TFRP-1, two fixed reference points, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.5"
    block_rows: ClassVar[int] = 65_536
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        values, metric = arrays(points)
        return tfrp(values, metric, k)
