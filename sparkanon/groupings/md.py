"""MD: maximum distance."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.md import md
from sparkanon.registry import spec


@spec
class Md(OneKernel):
    """Groups of k around the two records that are furthest apart of all that remain.

    The one further from the centre goes first; of 2k to 3k-1 remaining records only that one gets
    a group of k, the others are one group.
    """

    key: ClassVar[str] = "md"
    title: ClassVar[str] = "MD, exact, groups of fixed size"
    source: ClassVar[str] = "SURVEY table 3; Domingo-Ferrer and Mateo-Sanz 2002"
    block_rows: ClassVar[int] = 20_000
    kernel = md
