"""Distances from one point to many records, a coordinate at a time.

Every lane of a vector holds its own record and adds its coordinates in order, so that the result
does not depend on the width of the vectors. float32 or float64, as the arrays are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.jit import tight

Reals = npt.NDArray[Any]  # float64 where a decision is exact, float32 where a good guess will do


@tight
def distances(
    values: Reals, caps: Reals, capped: bool, point: Reals, count: int, out: Reals
) -> None:
    """Distances from `point` (d,) to the first `count` records of `values` (d, n); O(d * count).

    Squared Euclidean, or the sum of min(|x - y|, cap) if `capped`. Written to out[0..count-1].
    Four coordinates in one go, because `out` would cost more to load and store than they do.
    """
    d = values.shape[0]
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


@tight
def apart(x: Reals, a: int, y: Reals, b: int, caps: Reals, capped: bool) -> float:
    """Distance between row `a` of `x` (., d) and row `b` of `y` (., d); O(d).

    Four sums side by side, added in a fixed order: faster than one, and as repeatable.
    """
    d = x.shape[1]
    r, s, t, u = 0.0, 0.0, 0.0, 0.0
    whole = d - d % 4
    if capped:
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
