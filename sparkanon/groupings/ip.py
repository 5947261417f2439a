"""IP: importance partitioning."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.ip import ip
from sparkanon.registry import spec


@spec
class Ip(OneKernel):
    """Groups of k grown around the most important records, those furthest from the centre.

    The survey gives only cost and loss of the method of Fouskakis and Kokolakis 2009 (tables 3,
    5-7); the rest is ours, chosen because it comes near those figures. A group takes in, one by
    one, the remaining record that raises its cost least: the one nearest to its centroid, not to
    its seed, among the 8k records nearest to the seed. Fewer than k leftovers go one by one to
    the nearest group.
    """

    key: ClassVar[str] = "ip"
    title: ClassVar[str] = "importance partitioning, groups of fixed size"
    source: ClassVar[str] = "SURVEY tables 3, 5-7"
    block_rows: ClassVar[int] = 65_536
    kernel = ip
