"""Measures as they may be shown to anybody: three digits, and nothing about fewer than k."""

from __future__ import annotations

import math
from dataclasses import replace

from sparkanon.measures.base import Measure

# Shares of records: times the number of records they are counts of people.
SHARES = frozenset(
    {
        "below_k",
        "uniqueness",
        "linkage_masked_to_original",
        "linkage_original_to_masked",
        "interval_sd",
        "interval_rank",
        "homogeneous",
    }
)
# Sums over the whole table: exact by nature, and of no use to anybody who has the release.
WITHHELD = frozenset({"sse", "sst", "il1s"})


def public(one: Measure, records: int, k: int) -> Measure:
    """The measure with coarse numbers; its value is None where it may not be told."""
    if one.measure in WITHHELD:
        return replace(one, value=None, low=None, high=None)

    def coarse(value: float | None) -> float | None:
        if value is None or not math.isfinite(value):
            return None
        if one.measure in SHARES:
            return coarse_share(value, records, k)
        return three_digits(value)

    return replace(one, value=coarse(one.value), low=coarse(one.low), high=coarse(one.high))


def coarse_share(share: float, records: int, k: int) -> float:
    """A share rounded up to whole groups of k records: at most so many.

    Whether none or k - 1 are behind it is not told, and neither is how few are missing to all.
    """
    if records <= 0:
        return 1.0
    groups = max(1, math.ceil(share * records / k - 1e-9))
    return min(1.0, three_digits(groups * k / records, up=True))


def three_digits(value: float, *, up: bool = False) -> float:
    """Three significant digits."""
    near = float(f"{value:.2e}")
    if up and near < value:
        near = float(f"{near + 10.0 ** (math.floor(math.log10(abs(value))) - 2):.2e}")
    return near
