"""Refined: groups from the outside in, then local search between neighbours."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.numeric.refined import refined
from sparkanon.registry import spec


@spec
class Refined:
    """Fixed-size groups around the furthest records, then swaps and moves that lower the cost."""

    key: ClassVar[str] = "refined"
    title: ClassVar[str] = "fixed-size groups refined by swaps and moves between neighbours"
    source: ClassVar[str] = "sparkanon; starts as CBFS (SURVEY table 3)"
    block_rows: ClassVar[int] = 87_000
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    passes: Annotated[
        int, Field(ge=0, le=100, description="refinement passes over the block; 0: none")
    ] = 6

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return refined(*arrays(points), k, self.passes)
