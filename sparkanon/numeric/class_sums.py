"""Means and covariances by class from exact sums: the same bits in whatever order they come.

Scores are taken to the nearest multiple of 2^-20, and those are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.records import Floats

_STEP = 20  # bits behind the point; also of the lower half of a score
_FARTHEST = 2.0**40  # z-scores of n records are at most sqrt(n): this is never reached
Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class ClassSums:
    """For each class: how many, (d,) sums and (d, d) sums of products, as Python integers."""

    by_class: dict[int, tuple[int, Objects, Objects]]

    def __add__(self, other: ClassSums) -> ClassSums:
        found = dict(self.by_class)
        for key, part in other.by_class.items():
            n, sums, products = part
            if key in found:
                before = found[key]
                n, sums, products = before[0] + n, before[1] + sums, before[2] + products
            found[key] = n, sums, products
        return ClassSums(found)

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """(classes,) counts, (classes, d) means, (d, d) covariance within; classes by key."""
        parts = [self.by_class[key] for key in sorted(self.by_class)]
        counts = np.array([n for n, _, _ in parts], dtype=np.float64)
        means = np.array([[float(Fraction(s, n << _STEP)) for s in sums] for n, sums, _ in parts])
        within: Objects = sum(
            (products * Fraction(1) - np.outer(sums, sums) * Fraction(1, n))
            for n, sums, products in parts
        )
        scale = Fraction(1, sum(n for n, _, _ in parts) << (2 * _STEP))
        return counts, means, np.vectorize(lambda one: float(one * scale), otypes=[float])(within)


def class_sums(keys: npt.NDArray[np.int64], scores: Floats, most: int) -> ClassSums:
    """Of (n,) classes and (n, d) scores; at most so many classes, as more are refused anyway."""
    steps = np.rint(np.clip(scores, -_FARTHEST, _FARTHEST) * 2.0**_STEP).astype(np.int64)
    found = {}
    for key in np.unique(keys)[:most]:
        own = steps[keys == key]
        high, low = own >> _STEP, own & ((1 << _STEP) - 1)
        mixed = _sum_of_products(high, low)
        products = (_sum_of_products(high, high) << (2 * _STEP)) + _sum_of_products(low, low)
        products = products + ((mixed + mixed.T) << _STEP)
        sums = (high.sum(axis=0).astype(object) << _STEP) + low.sum(axis=0).astype(object)
        found[int(key)] = (len(own), sums, products)
    return ClassSums(found)


def _sum_of_products(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Objects:
    return np.asarray(one.T @ other).astype(object)
