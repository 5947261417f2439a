"""Refined: MDAV in small leaves, then local search across their borders."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.numeric.refined import refined
from sparkanon.registry import spec


@spec
class Refined:
    """MDAV in leaves of a principal-direction tree, then moves and swaps between neighbours."""

    key: ClassVar[str] = "refined"
    title: ClassVar[str] = "MDAV in leaves, refined by moves and swaps between groups"
    source: ClassVar[str] = "sparkanon; swaps as in balanced k-means, Malinen and Franti 2014"
    block_rows: ClassVar[int] = 160_000

    passes: Annotated[
        int, Field(ge=0, le=100, description="refinement passes over the block; 0 is MDAV only")
    ] = 6

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        capped = points.caps is not None
        caps = np.ones(points.d) if points.caps is None else points.caps
        return refined(points.values, caps, capped, points.codes, k, self.passes)
