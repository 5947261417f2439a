"""The contract of a grouping: who stands together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


@runtime_checkable
class Grouping(Protocol):
    """Partitions the records of a block into groups of k or more (fewer than 2k: one group).

    `block_rows` is the largest block the method serves well; the engine cuts blocks to it.
    `bounded`: groups hold fewer than 2k records where n >= 2k. `random`: groups depend on `rng`.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    bounded: ClassVar[bool]

    # a class variable is enough where the parameters make no difference
    @property
    def random(self) -> bool: ...

    @property
    def block_rows(self) -> int: ...

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group, 0 to groups-1; needs n >= k >= 2."""
        ...


@runtime_checkable
class Crossing(Grouping, Protocol):
    """A grouping that can improve the groups of other blocks, across the borders of these."""

    @property
    def crosses(self) -> bool:
        """Whether what it gains is worth a second pass over the records."""
        ...

    def go_on(self, points: Points, k: int, labels: Labels) -> Labels:
        """Better groups than those of `labels`, which are whole but were made in other blocks."""
        ...


class OneKernel:
    """What groupings share that call one kernel; they draw nothing unless they say `random`."""

    kernel: ClassVar[Callable[..., Labels]]
    bounded: ClassVar[bool] = True
    random: ClassVar[bool] = False

    def parameters(self, points: Points, rng: np.random.Generator) -> tuple[Any, ...]:
        """What the kernel gets after the points and k."""
        return ()

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        """Label every record with its group; without draws the same records give the same."""
        return type(self).kernel(*arrays(points), k, *self.parameters(points, rng))
