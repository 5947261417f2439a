"""DBA-1: the densest neighbourhood first."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.dba import dba
from sparkanon.registry import spec


@spec
class Dba(OneKernel):
    """The k-neighbourhood of the record of highest k-density becomes a group, again and again.

    A k-neighbourhood is a record with its k-1 nearest remaining ones. Its density is the inverse
    of the sum of their squared distances to their centroid (SURVEY 3.3 leaves that open; this
    gives its figures to the last digit), or of their distances to the record where there are no
    centroids. Fewer than k leftovers go one by one to the nearest group.
    """

    key: ClassVar[str] = "dba"
    title: ClassVar[str] = "DBA-1, density-based, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.3"
    block_rows: ClassVar[int] = 20_000
    kernel = dba
