"""TFRP-2: two fixed reference points, then groups are dissolved where that pays."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.tfrp import tfrp2
from sparkanon.registry import spec


@spec
class Tfrp2(OneKernel):
    """TFRP-1, then the costliest groups give their records to the nearest others if cost falls.

    The records of a group go to the groups that are nearest before any of them has moved and
    hold fewer than 4k-1; the outermost choose first. Groups that end up with 2k or more are cut
    by MDAV; the survey (3.5) leaves the fixed-size method open.
    """

    key: ClassVar[str] = "tfrp2"
    title: ClassVar[str] = "TFRP-2, two fixed reference points, costly groups dissolved"
    source: ClassVar[str] = "SURVEY 3.5"
    block_rows: ClassVar[int] = 32_768
    kernel = tfrp2
