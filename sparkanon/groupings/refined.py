"""Refined: any grouping, then local search and annealing between neighbours."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from sparkanon.groupings.base import Grouping
from sparkanon.groupings.plain import STARTS
from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.members import break_up
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels
from sparkanon.numeric.refine.refined import own_start, refined, sweeps
from sparkanon.registry import choice, spec

BLOCK_ROWS = 87_000


@spec
class Refined:
    """Groups from the outside in, or of another grouping, then steps that lower the cost.

    All blocks get swaps, moves and dissolved groups between neighbours. Those of up to 20,480
    records are annealed as well, in patches of 8 to 28 neighbouring groups, in turn with the
    optimal groups along a path through all groups (MHM, SURVEY table 4): 4 sweeps up to 5,120
    records, fewer above, so that it takes about a second. With high effort blocks of up to 4096
    records get up to 48 sweeps, and larger ones 4. The work is counted in steps, never bounded by
    the clock, and the random numbers are a fixed sequence: the same records give the same groups.
    Groups of k > 1000 (256 with `gower`) stay as they start, and from k > 200 none is annealed.

    With high effort a table of several blocks is cut a second time, at other places, and the
    groups are refined there once more, across what were borders. With normal effort that would
    gain 3 % of the loss for nine times the time (docs/choosing.md).
    """

    key: ClassVar[str] = "refined"
    title: ClassVar[str] = "fixed-size groups refined by swaps and moves between neighbours"
    source: ClassVar[str] = "sparkanon; starts as MDAV, large blocks as CBFS (SURVEY table 3)"
    bounded: ClassVar[bool] = True

    passes: Annotated[
        int, Field(ge=0, le=100, description="refinement passes over the block; 0: none")
    ] = 6
    effort: Annotated[
        Literal["normal", "high"],
        Field(description="high: less loss for much more time, about 5 s for 1,000 records"),
    ] = "normal"
    start: Annotated[
        Grouping | None,
        *choice(STARTS, optional=True),
        Field(description="the grouping that is refined; our own if not said"),
    ] = None

    @property
    def random(self) -> bool:
        """Only if its start is."""
        return self.start is not None and self.start.random

    @property
    def crosses(self) -> bool:
        """Only with high effort, which takes much longer than a second pass over the records."""
        return self.effort == "high" and self.passes > 0

    @property
    def block_rows(self) -> int:
        """What both the refinement and its start serve well."""
        return BLOCK_ROWS if self.start is None else min(BLOCK_ROWS, self.start.block_rows)

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group."""
        values, metric = arrays(points)
        if self.start is None:
            labels = own_start(values, metric, k)
        else:
            labels = self.start.group(points, k, rng)
            labels = break_up(mdav, values, metric, k, labels)
        high = self.effort == "high"
        return refined(values, metric, k, labels, self.passes, sweeps(points.n, high))

    def go_on(self, points: Points, k: int, labels: Labels) -> Labels:
        """One sweep more, over neighbours that the first blocks kept apart."""
        values, metric = arrays(points)
        return refined(values, metric, k, labels, self.passes, 1)
