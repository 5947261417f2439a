"""What a release can ask about a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkanon.needs import Need

Limits = Mapping[str, tuple[float, float]]  # of a column: low and high, as a kernel's numbers


@dataclass(frozen=True)
class Quantiles(Need[Limits]):
    """For each ordered quasi-identifier its low and its high quantile.

    At least this share of the column's values is at or below the low quantile, which is the least
    value of that kind; the high quantile is the same from above. Nulls do not count.
    Both are values that occur, exactly, however the table is partitioned.
    """

    share: float  # above 0, below one half


@dataclass(frozen=True)
class NumberOf(Need[float]):
    """The number of a kernel for a value that the policy gives for a column.

    It is the nearest one that the column's type can hold.
    """

    column: str
    value: float | str
    path: str  # where the policy says so
