"""Statistics of a whole column, however many machines it took to count them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparkanon.numeric.records import Scale


@dataclass(frozen=True)
class ColumnStatistics:
    """What one or two passes over the table say about one quasi-identifier.

    `mean`, `sd` (population), `low` and `high` are over the non-null values; for a nominal column
    they are 0. `pair_difference` is the chance that two records drawn with replacement differ
    (1 - sum p^2), counted for nominal columns only; a null is a value there.
    """

    name: str
    scale: Scale
    n: int
    nulls: int
    mean: float = 0.0
    sd: float = 0.0
    low: float = 0.0
    high: float = 0.0
    pair_difference: float = 0.0

    @property
    def spread(self) -> float:
        """`high - low`."""
        return self.high - self.low

    def steady_sd(self) -> float:
        """The sd on a coarse grid: sums taken in another order must not change a release."""
        return _significant(self.sd)

    def steady_mean(self) -> float:
        """The mean on a grid of a millionth of the sd, for the same reason."""
        grid = self.steady_sd() * 1e-6
        return round(self.mean / grid) * grid if grid > 0 else self.low


def _significant(value: float, digits: int = 6) -> float:
    if value <= 0 or not math.isfinite(value):
        return 0.0
    return float(f"{value:.{digits - 1}e}")
