"""One number for the trade-off between loss and risk."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sparkanon.measures.base import Measure


def il_dr_score(
    il_metrics: float,
    il1s: float,
    linkage: float,
    interval: float,
    weights: Sequence[float] = (0.25, 0.25, 0.25, 0.25),
) -> Measure:
    """`il_dr_score` of ROUND 3.3.3: 0.25 * (ILMetrics + IL1s + DDR + IDR); the lower the better.

    Scales are those of ROUND's tables 1 to 6: ILMetrics in percent, IL1s as the plain sum over
    cells, the two risks as shares between 0 and 1 (table 1: 0.25 * (43.06 + 179.47 + 0.24 + 0.03)
    = 55.70). So the score grows with the number of cells and the risks weigh little in it: it
    compares methods on one table, and other weights can restore a balance.
    """
    if len(weights) != 4 or not all(math.isfinite(w) and w >= 0 for w in weights):
        raise ValueError("the score takes four weights that are not negative")
    if not (0 <= linkage <= 1 and 0 <= interval <= 1):
        raise ValueError("linkage and interval are shares between 0 and 1, not percent")
    terms = (il_metrics, il1s, linkage, interval)
    return Measure("il_dr_score", sum(w * t for w, t in zip(weights, terms, strict=True)))
