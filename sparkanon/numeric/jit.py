"""One typed door to numba, so that compiled functions keep their types for readers and mypy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

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


def tight(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that makes no arrays: numba then counts no references to them.

    The counts are atomic, and in loops over small pieces they took more time than the arithmetic.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    compiled = njit(error_model="numpy", **options)(function)
    return cast(Callable[P, R], compiled)
