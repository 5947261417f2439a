"""Synthetic records with the mean and the covariance of their group."""

from __future__ import annotations

import math

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.records import Bools, Floats

# A column counts as a linear combination of the others if a smaller share of it than this is left.
DEPENDENT = 1e-10
# With fewer values, mean and variance determine the originals, or nearly so.
LEAST = 4


@tight
def separate(rows: Floats, count: int, m: int, parts: Floats) -> float:
    """Make rows[count, :m] orthogonal to the orthonormal rows before it; O(count m).

    Returns the length that is left; `parts` get what was taken along each of the rows. Done twice,
    after which rounding has left nothing behind.
    """
    for r in range(count):
        parts[r] = 0.0
    for _ in range(2):
        for r in range(count):
            dot = 0.0
            for i in range(m):
                dot += rows[r, i] * rows[count, i]
            parts[r] += dot
            for i in range(m):
                rows[count, i] -= dot * rows[r, i]
    total = 0.0
    for i in range(m):
        total += rows[count, i] * rows[count, i]
    return math.sqrt(total)


@tight
def deviations(
    values: Floats, null: Bools, order: Ints, begin: int, m: int, j: int, out: Floats, row: int
) -> tuple[float, float, float]:
    """Column j of a group around its mean, as shares of the largest deviation; nulls are 0.

    Returns the mean, the largest deviation and the length of the row that was filled.
    """
    first, total, present = 0.0, 0.0, 0
    for i in range(begin, begin + m):
        if not null[j, order[i]]:
            if present == 0:
                first = values[j, order[i]]
            total += values[j, order[i]] - first  # so that a constant stays exact
            present += 1
    centre = first + total / max(present, 1)
    unit = 0.0
    for i in range(m):
        at = order[begin + i]
        out[row, i] = 0.0 if null[j, at] else values[j, at] - centre
        unit = max(unit, abs(out[row, i]))
    total = 0.0
    if unit > 0.0:
        for i in range(m):
            out[row, i] /= unit
            total += out[row, i] * out[row, i]
    return centre, unit, math.sqrt(total)


@kernel
def synthetic(
    values: Floats, null: Bools, hidden: Bools, order: Ints, starts: Ints, normals: Floats
) -> Floats:
    """A record for each one of every group, with the group's mean and covariance.

    The deviations A (m x d) of a group are U R, with U orthonormal and orthogonal to the ones
    (Gram-Schmidt), r = rank(A) <= min(d, m - 1) columns. The new ones are Z R for a random Z of
    the same kind: uniform among all that have the same mean and A'A. Groups of m <= d records
    span at most m - 1 of d dimensions; there the deviations are multiplied by sqrt((m - 1) / d).

    Parameters
    ----------
    values, null : (d, n) cells and whether they are null
    hidden : (d, n) where a null is published; in each group at least as many as there are nulls
    order, starts : records by group, and where each group begins (and the last one ends)
    normals : (d, n) standard normal draws

    Where a column of a group has nulls, its new deviations are centred and scaled over the cells
    that are shown: mean and variance are those of its values, covariances only nearly so. The two
    values that have a mean and a variance are the group's own, and three are all that one turn in
    a plane can make of its three: fewer than `LEAST` become their mean.
    O(n d^2) time, O(m d) memory besides the result.
    """
    d = len(values)
    largest = 1
    for g in range(len(starts) - 1):
        largest = max(largest, starts[g + 1] - starts[g])
    span, drawn = np.empty((d, largest)), np.empty((d + 1, largest))
    factor, parts = np.zeros((d, d)), np.zeros(d + 1)
    centre, unit, made = np.zeros(d), np.zeros(d), np.empty(values.shape)
    row = np.zeros(largest)
    for g in range(len(starts) - 1):
        begin, m = starts[g], starts[g + 1] - starts[g]
        rank = 0
        for j in range(d):
            centre[j], unit[j], length = deviations(values, null, order, begin, m, j, span, rank)
            left = separate(span, rank, m, parts)
            for r in range(d):
                factor[r, j] = parts[r] if r < rank else 0.0
            if rank < m - 1 and left > DEPENDENT * length:
                for i in range(m):
                    span[rank, i] /= left
                factor[rank, j] = left
                rank += 1
        for i in range(m):
            drawn[0, i] = 1.0 / math.sqrt(m)
        for r in range(1, rank + 1):
            for i in range(m):
                drawn[r, i] = normals[r - 1, begin + i]
            length = separate(drawn, r, m, parts)
            for i in range(m):
                drawn[r, i] /= max(length, 1e-300)
        shrink = math.sqrt((m - 1.0) / d) if m <= d else 1.0
        for j in range(d):
            target, shown = 0.0, 0
            for r in range(rank):
                target += factor[r, j] * factor[r, j]
            for i in range(m):
                row[i] = 0.0
                if not hidden[j, order[begin + i]]:
                    shown += 1
                    for r in range(rank):
                        row[i] += factor[r, j] * drawn[r + 1, i]
            if shown < m:
                mean, size = 0.0, 0.0
                for i in range(m):
                    mean += row[i] / max(shown, 1)
                for i in range(m):
                    if not hidden[j, order[begin + i]]:
                        row[i] -= mean
                        size += row[i] * row[i]
                for i in range(m):
                    row[i] *= math.sqrt(target / max(size, 1e-300)) if shown >= LEAST else 0.0
            for i in range(m):
                made[j, order[begin + i]] = centre[j] + unit[j] * shrink * row[i]
    return made
