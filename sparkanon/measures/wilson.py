"""Confidence interval of a share (Wilson 1927, https://doi.org/10.2307/2276774)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z95 = 1.959963984540054  # 97.5 % quantile of the normal distribution
NOISE = 1e-9  # relative error of a sum of credits


@dataclass(frozen=True)
class Interval:
    """Where a share lies with 95 % confidence."""

    low: float
    high: float


def effective_draws(weight: float, squares: float) -> float:
    """The number of independent draws that are as precise as these clusters: (sum w)^2 / sum w^2.

    Kish 1965, Survey Sampling, 8.2. `weight` and `squares` are the two sums. Records that are
    drawn together and have one result are one draw, however many they are.
    """
    return weight * weight / squares if squares > 0 else 0.0


def wilson(hits: float, trials: float) -> Interval:
    """Wilson score interval, 95 %, for `hits` successes in `trials`.

    Hits may be fractional: a credit of 1 / ties varies less than a draw with that chance, so the
    interval is rather too wide than too narrow. Without trials nothing is known: 0..1.
    """
    if trials < 0 or not 0 <= hits <= trials * (1 + NOISE):
        raise ValueError("hits must lie between 0 and the number of trials")
    if trials == 0:
        return Interval(0.0, 1.0)
    share, spread = min(hits / trials, 1.0), Z95 * Z95 / trials
    middle = share + spread / 2
    half = sqrt(spread * (share * (1 - share) + spread / 4))
    # At the ends the bound is the share itself, which rounding may miss.
    low = (middle - half) / (1 + spread) if share > 0 else 0.0
    high = (middle + half) / (1 + spread) if share < 1 else 1.0
    return Interval(max(low, 0.0), min(high, 1.0))
