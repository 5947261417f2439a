"""CBFS: centroid-based fixed size."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.mdav import cbfs
from sparkanon.registry import spec


@spec
class Cbfs(OneKernel):
    """Groups of k around the record furthest from the centre of those that remain, one a round."""

    key: ClassVar[str] = "cbfs"
    title: ClassVar[str] = "CBFS, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY table 3; Laszlo and Mukherjee 2005"
    block_rows: ClassVar[int] = 65_536
    kernel = cbfs
