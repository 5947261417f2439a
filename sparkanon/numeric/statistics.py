"""Statistics of a whole column, however many machines it took to count them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sparkanon.numeric.exact import (
    DIGITS,
    ExactSums,
    rounded_root,
    sum_error,
    surely_rounded,
)
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
    steady: tuple[float, float] | None = None  # (mean, sd) by exact sums, where it matters

    @property
    def spread(self) -> float:
        """`high - low`."""
        return self.high - self.low

    @property
    def problem(self) -> str | None:
        """Why no distance can be made of this column, or None."""
        if self.scale is Scale.NOMINAL:
            return None
        if not math.isfinite(self.spread) or not math.isfinite(self.sd):
            return "its values lie so far apart that no double holds their range or spread"
        if self.spread > 0 and (self.sd == 0 or self.spread < LEAST_SPREAD):
            return "its values differ by so little that no double holds their spread"
        return None

    def steady_sd(self) -> float:
        """The sd to six digits: sums taken in another order must not change a release."""
        return self.steady[1] if self.steady is not None else _significant(self.sd)

    def steady_mean(self) -> float:
        """The mean on a grid of a millionth of the sd, for the same reason."""
        if self.steady is not None:
            return self.steady[0]
        grid = self.steady_sd() * GRID
        return round(self.mean / grid) * grid if grid > 0 else self.low

    @property
    def is_steady(self) -> bool:
        """Whether mean and sd surely round as the exact ones do.

        If not, they lie too near to the edge between two roundings, and exact sums decide.
        """
        if self.scale is Scale.NOMINAL or self.sd <= 0 or self.steady is not None:
            return True
        of_mean, of_sd = sum_error(self.n, self.mean, self.sd)
        if not surely_rounded(self.sd, of_sd):
            return False
        grid = self.steady_sd() * GRID
        return round((self.mean - of_mean) / grid) == round((self.mean + of_mean) / grid)

    def made_steady(self, sums: ExactSums) -> ColumnStatistics:
        """With the mean and sd that the exact sums round to."""
        sd = rounded_root(sums.variance)
        grid = sd * GRID
        mean = round(sums.mean / Fraction(grid)) * grid if grid > 0 else self.low
        return replace(self, steady=(mean, sd))


GRID = 1e-6  # of the sd: steps of a steady mean
# The squares of smaller differences lose digits in a double: their sum, and even whether it is 0,
# would depend on the order of the rows.
LEAST_SPREAD = 1e-140


def _significant(value: float) -> float:
    if value <= 0 or not math.isfinite(value):
        return 0.0
    return float(f"{value:.{DIGITS - 1}e}")
