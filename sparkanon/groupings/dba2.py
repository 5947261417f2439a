"""DBA-2: the densest neighbourhood first, then groups are dissolved where that pays."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.dba import dba2
from sparkanon.registry import spec


@spec
class Dba2(OneKernel):
    """DBA-1, then the costliest groups give their records to the nearest others if cost falls.

    As TFRP-2, but a group may grow without limit before those of 2k or more are cut by MDAV
    (SURVEY 3.3). This gives the survey's figures to the last digit.
    """

    key: ClassVar[str] = "dba2"
    title: ClassVar[str] = "DBA-2, density-based, costly groups dissolved"
    source: ClassVar[str] = "SURVEY 3.3"
    block_rows: ClassVar[int] = 20_000
    kernel = dba2
