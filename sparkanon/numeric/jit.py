"""One typed door to numba, so that compiled functions keep their types for readers and mypy."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile to machine code: cached on disk, without the GIL, without fastmath.

    Sums are never reassociated, so the result is the same to the bit on every CPU. Division by
    zero gives inf or nan, as in numpy, which keeps the loops free of branches.
    """
    compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(Callable[P, R], compiled)
