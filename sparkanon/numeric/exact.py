"""Sums without rounding: the same whatever order the values come in, on however many machines.

A double is an integer mantissa times a power of two. Mantissas of one power are added as
integers, in pieces small enough for 64 bits, and the totals are Python integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from sparkanon.numeric.records import Floats

_BITS = 18  # of a piece: three hold a mantissa, and 2^27 products of two fit into 64 bits
_LOW = (1 << _BITS) - 1
_PRECISE = Context(prec=80)
DIGITS = 6


@dataclass(frozen=True)
class ExactSums:
    """Count, sum and sum of squares; the sums are integers times 2^-1126 and 2^-2252."""

    n: int = 0
    total: int = 0
    squares: int = 0

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(self.n + other.n, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> Fraction:
        return Fraction(self.total, self.n << _SHIFT)

    @property
    def variance(self) -> Fraction:
        """Population variance, exactly."""
        spread = self.n * self.squares - self.total * self.total
        return Fraction(spread, (self.n * self.n) << (2 * _SHIFT))


_SHIFT = 1126  # the smallest double is 2^-1074, its mantissa is counted in 2^-52 of that


def exact_sums(values: Floats) -> ExactSums:
    """Of finite values; O(n) and a few Python integers for each power of two among them."""
    fractions, powers = np.frexp(values)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    total = squares = 0
    for power in np.unique(powers):
        some = mantissas[powers == power]
        sign, size = np.sign(some), np.abs(some)
        pieces = [(size >> (_BITS * i)) & _LOW for i in range(3)]
        shift = int(power) - 53 + _SHIFT
        total += sum(int((sign * p).sum()) << (_BITS * i) for i, p in enumerate(pieces)) << shift
        products = sum(
            int((p * q).sum()) << (_BITS * (i + j))
            for i, p in enumerate(pieces)
            for j, q in enumerate(pieces)
        )
        squares += products << (2 * shift)
    return ExactSums(len(values), total, squares)


def rounded_root(variance: Fraction, digits: int = DIGITS) -> float:
    """The square root to so many significant digits, as `format` would round it."""
    if variance <= 0:
        return 0.0
    ratio = _PRECISE.divide(Decimal(variance.numerator), Decimal(variance.denominator))
    return float(f"{_PRECISE.sqrt(ratio):.{digits - 1}e}")


def surely_rounded(value: float, error: float, digits: int = DIGITS) -> bool:
    """Whether rounding to so many digits is the same for all that is this near to the value."""
    low, high = value - error, value + error
    return low > 0 and f"{low:.{digits - 1}e}" == f"{high:.{digits - 1}e}"


def sum_error(n: int, mean: float, sd: float) -> tuple[float, float]:
    """How far mean and sd of doubles can be from the truth, in whatever order they were added.

    A sum of n terms is off by at most n u times the sum of their sizes (u = 2^-53, Higham 2002,
    4.2); updating formulas of the variance by n u times the condition number sqrt(1 + mean^2 /
    sd^2) (Chan, Golub & LeVeque 1983, table 1). Both with a factor of four for the merging.
    """
    unit = 4.0 * n * 2.0**-53
    size = math.hypot(mean, sd)
    return unit * size, unit * size
