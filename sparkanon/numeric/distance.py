"""Distances from one point to many records, a coordinate at a time.

Every lane of a vector holds its own record and adds its coordinates in order, so that the result
does not depend on the width of the vectors.
"""

from __future__ import annotations

from sparkanon.numeric.jit import kernel
from sparkanon.numeric.records import Floats


@kernel
def distances(
    values: Floats, caps: Floats, capped: bool, point: Floats, low: int, high: int, out: Floats
) -> None:
    """Distances from `point` (d,) to the records low..high-1 of `values` (d, n); O(d * count).

    Squared Euclidean, or the sum of min(|x - y|, cap) if `capped`. Written to out[0..count-1].
    """
    count = high - low
    for i in range(count):
        out[i] = 0.0
    for j in range(values.shape[0]):
        row = values[j, low:high]
        at = point[j]
        if capped:
            cap = caps[j]
            for i in range(count):
                out[i] += min(abs(row[i] - at), cap)
        else:
            for i in range(count):
                gap = row[i] - at
                out[i] += gap * gap


@kernel
def distance(values: Floats, caps: Floats, capped: bool, a: int, b: int) -> float:
    """Distance between the records `a` and `b` of `values` (d, n); O(d)."""
    total = 0.0
    for j in range(values.shape[0]):
        gap = values[j, a] - values[j, b]
        if capped:
            total += min(abs(gap), caps[j])
        else:
            total += gap * gap
    return total
