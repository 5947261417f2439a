"""DBA-1: the densest neighbourhood first."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.dba import dba
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class Dba:
    """The k-neighbourhood of the record of highest k-density becomes a group, again and again.

    A k-neighbourhood are a record and its k-1 nearest remaining ones, its density the inverse of
    the sum of their squared distances to their centroid (SURVEY 3.3 leaves that open; this gives
    its figures to the last digit). Without centroids, of the distances to the record. Fewer than
    k leftovers go one by one to the nearest group.
    """

    key: ClassVar[str] = "dba"
    title: ClassVar[str] = "DBA-1, density-based, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.3"
    block_rows: ClassVar[int] = 20_000
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        values, metric = arrays(points)
        return dba(values, metric, k)
