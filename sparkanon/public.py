"""Measures as they may be shown to anybody: three digits, and nothing about fewer than k."""

from __future__ import annotations

import math
from dataclasses import replace

from sparkanon.catalogue import about
from sparkanon.measures import Measure
from sparkanon.measures.anonymity import few


def public(one: Measure, records: int, k: int | None) -> Measure:
    """The measure with coarse numbers; its value is None where it stays private."""
    known = about(one.measure)
    if known is None or known.outside == "private" or (one.column and not known.per_column):
        return replace(one, value=None, low=None, high=None)
    of_records = known.outside == "share of records"

    def coarse(value: float | None) -> float | None:
        if value is None or not math.isfinite(value):
            return None
        return coarse_share(value, records, few(k)) if of_records else three_digits(value)

    return replace(one, value=coarse(one.value), low=coarse(one.low), high=coarse(one.high))


def coarse_share(share: float, records: int, k: int) -> float:
    """A share rounded up to a multiple of k records, which is an upper bound.

    It does not show how many of 0 to k records there are, nor how many are missing to all: a
    share that leaves fewer than k others is rounded up to 1.
    """
    if records <= 0:
        return 1.0
    groups = max(1, math.ceil(share * records / k - 1e-9))
    if records - groups * k < k:
        return 1.0
    return min(1.0, three_digits(groups * k / records, up=True))


def three_digits(value: float, *, up: bool = False) -> float:
    """Three significant digits."""
    near = float(f"{value:.2e}")
    if up and near < value:
        near = float(f"{near + 10.0 ** (math.floor(math.log10(abs(value))) - 2):.2e}")
    return near
