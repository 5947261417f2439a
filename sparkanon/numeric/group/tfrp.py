"""TFRP: Chang, Li and Huang 2007, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.group.around import around, outermost
from sparkanon.numeric.group.loose import second_phase, spread
from sparkanon.numeric.group.mdav import buckets_of
from sparkanon.numeric.records import Bools, Floats


def references(values: Floats, caps: Floats, capped: bool) -> tuple[Floats, Floats]:
    """The two fixed points: all coordinates the least, or the largest, of all numbers there are.

    Of capped coordinates each has a scale of its own, and such points would be as far as can be
    from everybody: there they are the records nearest to the corners of all records.
    """
    if not capped:
        return np.full(len(values), values.min()), np.full(len(values), values.max())
    near, found = np.empty(values.shape[1]), []
    for corner in (values.min(axis=1), values.max(axis=1)):
        distances(values, caps, capped, corner, len(near), near)
        found.append(values[:, near.argmin()].copy())
    return found[0], found[1]


def tfrp(values: Floats, caps: Floats, capped: bool, k: int) -> Ints:
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k; ties go to the lower index.

    O(n^2 d / k) at worst, a few per cent of it with boxes.
    """
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    seeds = np.empty((2, n), np.int32)
    for side, reference in enumerate(references(values, caps, capped)):
        seeds[side] = outermost(values, caps, capped, reference)
    labels = around(buckets_of(values, caps, capped), seeds, values, caps, capped, k, 0.0)
    return spread(values, caps, capped, labels, k)


def tfrp2(values: Floats, caps: Floats, capped: bool, codes: Bools, k: int) -> Ints:
    """`tfrp` and its second phase, in which groups of 4k-1 records take no more; O(n^2 d / k)."""
    labels = tfrp(values, caps, capped, k)
    return second_phase(values, caps, capped, codes, labels, k, 4 * k - 1)
