"""V-MDAV: MDAV with groups of variable size."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.vmdav import vmdav
from sparkanon.numeric.points import Points
from sparkanon.registry import one_of, spec


@spec
class Vmdav(OneKernel):
    """Groups of k around the records furthest from the centre, extended while others are near.

    The centre is that of all records, computed once (SURVEY 3.6, step 2). A group takes in the
    remaining record nearest to one of its members if that distance is below gamma times the
    distance from there to the next remaining record, up to 2k-1. The paper does not say how to
    choose gamma: here 0, 0.2, 0.5, 0.8 and 1.1 are tried and the one of least cost is taken; in a
    large block they are tried on the 4,096 records of one region, then the best against 0 on all
    records. The last k remaining records are not used for extensions, so that everybody finds
    room; fewer than k leftovers go one by one to the nearest group with room.
    """

    key: ClassVar[str] = "vmdav"
    title: ClassVar[str] = "V-MDAV, groups of variable size"
    source: ClassVar[str] = "SURVEY 3.6"
    block_rows: ClassVar[int] = 65_536
    kernel = vmdav

    gamma: Annotated[
        Annotated[float, Field(ge=0, le=10)] | Literal["auto"],
        one_of("a number from 0 to 10, or auto"),
        Field(description="how readily groups are extended; 0: never; auto: by trial"),
    ] = "auto"

    def parameters(self, points: Points, rng: np.random.Generator) -> tuple[float | None]:
        return (None if self.gamma == "auto" else float(self.gamma),)
