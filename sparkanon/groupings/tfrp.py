"""TFRP-1: two fixed reference points."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.tfrp import tfrp
from sparkanon.registry import spec


@spec
class Tfrp(OneKernel):
    """Groups of k around the record furthest from one of two fixed points, in turn.

    The survey calls the reference points extreme points of the data (3.5). Taken are the points
    whose coordinates are all the least, and all the largest, of all z-scores, the first of them
    first: this gives its figures to the last digit. For a capped distance (`gower`) they are the
    records nearest to the corner of all least and of all largest values. Fewer than k leftovers
    go one by one to the nearest group.
    """

    key: ClassVar[str] = "tfrp"
    title: ClassVar[str] = "TFRP-1, two fixed reference points, groups of fixed size"
    source: ClassVar[str] = "SURVEY 3.5"
    block_rows: ClassVar[int] = 65_536
    kernel = tfrp
