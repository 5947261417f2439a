"""mu-Approx: a forest of near neighbours, cut into small trees."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mu_approx import mu_approx
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.registry import spec


@spec
class MuApprox:
    """Every record joins its nearest, trees too small join the nearest tree, large ones are cut.

    The paper allows groups of 3k-5 records; we cut the heaviest edges wherever both sides keep k
    records, as M-d does, and split by MD what still has 2k records or more.
    """

    key: ClassVar[str] = "mu_approx"
    title: ClassVar[str] = "mu-Approx, a forest of near neighbours cut into small trees"
    source: ClassVar[str] = "SURVEY tables 5-7; Domingo-Ferrer, Sebe and Solanas 2008"
    block_rows: ClassVar[int] = 32_768
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; the same records give the same groups."""
        return mu_approx(*arrays(points), k)
