"""One typed door to numba, so that compiled functions keep their types for readers and mypy."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def cache_folder() -> str:
    """Where compiled kernels are kept: a folder for this very source.

    Numba looks at the file of the function it loads, not at those of the functions this one
    calls. A kernel that was mended in another file would go on unmended, so every change of any
    of them gets a folder of its own.
    """
    sources = Path(__file__).parent
    read = hashlib.sha256()
    for path in sorted(sources.rglob("*.py")):
        read.update(path.relative_to(sources).as_posix().encode() + b"\0" + path.read_bytes())
    digest = read.hexdigest()[:16]
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    for base in (chosen, home, Path(tempfile.gettempdir()) / f"sparkanon-{os.getuid()}"):
        folder = Path(base) / "sparkanon" / digest if base else None
        if folder is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder)
    return ""


numba.config.CACHE_DIR = cache_folder()  # type: ignore[attr-defined]


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


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As `tight`, for a function that loops call so often that the call itself would cost.

    Every caller gets a copy of its code. A call hands over every field of every array, which for
    a few records takes as long as their distances.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False, "forceinline": True}
    compiled = njit(error_model="numpy", **options)(function)
    return cast(Callable[P, R], compiled)
