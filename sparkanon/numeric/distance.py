"""Distances from one point to many records, a coordinate at a time, and bounds of them.

Every lane of a vector holds its own record and adds its coordinates in order, so that the result
does not depend on the width of the vectors. float32 or float64, as the arrays are.
"""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.jit import inlined
from sparkanon.numeric.metric import Metric, Reals


@inlined
def added(metric: Metric, j: int, x: float, y: float) -> float:
    """What coordinate `j` adds to the distance of two records that stand at `x` and `y` there."""
    gap = abs(x - y)
    return float(min(gap, metric.caps[j]) if metric.capped else gap * gap)


@inlined
def length(metric: Metric, distance: float) -> float:
    """A distance as a length, for which the triangle inequality holds."""
    return distance if metric.capped else np.sqrt(distance)


@inlined
def from_length(metric: Metric, length: float) -> float:
    """The distance that has this length."""
    return length if metric.capped else length * length


@inlined
def distances(values: Reals, metric: Metric, point: Reals, count: int, out: Reals) -> None:
    """Distances from `point` (d,) to the first `count` records of `values` (d, n); O(d * count).

    Written to out[0..count-1]. Four coordinates in one go, because `out` would cost more to load
    and store than they do.
    """
    d, caps, capped = values.shape[0], metric.caps, metric.capped
    for i in range(count):
        out[i] = np.float32(0.0)
    whole = d - d % 4
    for j in range(0, whole, 4):
        r, s, t, u = values[j], values[j + 1], values[j + 2], values[j + 3]
        x, y, z, w = point[j], point[j + 1], point[j + 2], point[j + 3]
        if capped:
            a, b, c, e = caps[j], caps[j + 1], caps[j + 2], caps[j + 3]
            for i in range(count):
                total = out[i] + min(abs(r[i] - x), a)
                total += min(abs(s[i] - y), b)
                total += min(abs(t[i] - z), c)
                total += min(abs(u[i] - w), e)
                out[i] = total
        else:
            for i in range(count):
                total = out[i] + (r[i] - x) * (r[i] - x)
                total += (s[i] - y) * (s[i] - y)
                total += (t[i] - z) * (t[i] - z)
                total += (u[i] - w) * (u[i] - w)
                out[i] = total
    for j in range(whole, d):
        row = values[j]
        at, cap = point[j], caps[j]
        if capped:
            for i in range(count):
                out[i] += min(abs(row[i] - at), cap)
        else:
            for i in range(count):
                out[i] += (row[i] - at) * (row[i] - at)


@inlined
def apart(x: Reals, a: int, y: Reals, b: int, metric: Metric) -> float:
    """Distance between row `a` of `x` (., d) and row `b` of `y` (., d); O(d).

    Four sums side by side, added in a fixed order: faster than one, and as repeatable.
    """
    d, caps = x.shape[1], metric.caps
    r, s, t, u = 0.0, 0.0, 0.0, 0.0
    whole = d - d % 4
    if metric.capped:
        for j in range(0, whole, 4):
            r += min(abs(x[a, j] - y[b, j]), caps[j])
            s += min(abs(x[a, j + 1] - y[b, j + 1]), caps[j + 1])
            t += min(abs(x[a, j + 2] - y[b, j + 2]), caps[j + 2])
            u += min(abs(x[a, j + 3] - y[b, j + 3]), caps[j + 3])
        for j in range(whole, d):
            r += min(abs(x[a, j] - y[b, j]), caps[j])
    else:
        for j in range(0, whole, 4):
            r += (x[a, j] - y[b, j]) * (x[a, j] - y[b, j])
            s += (x[a, j + 1] - y[b, j + 1]) * (x[a, j + 1] - y[b, j + 1])
            t += (x[a, j + 2] - y[b, j + 2]) * (x[a, j + 2] - y[b, j + 2])
            u += (x[a, j + 3] - y[b, j + 3]) * (x[a, j + 3] - y[b, j + 3])
        for j in range(whole, d):
            r += (x[a, j] - y[b, j]) * (x[a, j] - y[b, j])
    return (r + t) + (s + u)


@inlined
def box_gaps(
    low: Reals, high: Reals, count: int, metric: Metric, start: Reals, end: Reals, out: Reals
) -> None:
    """Lower bounds of the distances between the box start..end and the first `count` of others.

    Boxes are (d, .) arrays; a point is a box with start = end. The operations of `distances` in
    their order: rounding is monotone, so no distance from a point in the box to a point in the
    other can come out below the bound. O(count d).
    """
    caps, zero = metric.caps, np.float32(0.0)
    for b in range(count):
        out[b] = zero
    for j in range(len(start)):
        lower, upper, first, last, cap = low[j], high[j], start[j], end[j], caps[j]
        if metric.capped:
            for b in range(count):
                out[b] += min(max(lower[b] - last, first - upper[b], zero), cap)
        else:
            for b in range(count):
                gap = max(lower[b] - last, first - upper[b], zero)
                out[b] += gap * gap


@inlined
def box_ends(
    low: Reals, high: Reals, count: int, metric: Metric, point: Reals, out: Reals
) -> None:
    """Upper bounds of the distances from `point` to what is in the first `count` boxes."""
    caps = metric.caps
    for b in range(count):
        out[b] = np.float32(0.0)
    for j in range(len(point)):
        lower, upper, at, cap = low[j], high[j], point[j], caps[j]
        if metric.capped:
            for b in range(count):
                out[b] += min(max(abs(lower[b] - at), abs(upper[b] - at)), cap)
        else:
            for b in range(count):
                gap = max(abs(lower[b] - at), abs(upper[b] - at))
                out[b] += gap * gap
