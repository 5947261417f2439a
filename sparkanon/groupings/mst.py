"""M-d: a minimum spanning tree without its heaviest edges."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.mst import mst
from sparkanon.registry import spec


@spec
class Mst(OneKernel):
    """The trees that are left when the heaviest edges are cut, wherever both sides keep k records.

    Trees of 2k records or more are split by MD, the 'd' (diameter) of M-d.
    """

    key: ClassVar[str] = "mst"
    title: ClassVar[str] = "M-d, minimum spanning tree without its heaviest edges"
    source: ClassVar[str] = "SURVEY table 3; Laszlo and Mukherjee 2005"
    block_rows: ClassVar[int] = 20_000
    kernel = mst
