"""Random numbers for a search: a fixed sequence, the same bits on every CPU."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.records import Floats

Chance = npt.NDArray[np.uint64]

WAITS = 1024  # a power of two
SEED = 88172645463325252


@kernel
def make_chance(turn: int) -> Chance:
    """The state (1,) of a sequence; every `turn` has its own."""
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(SEED) + np.uint64(2 * turn) * np.uint64(7919)
    return state


@tight
def draw(state: Chance) -> int:
    """The next 31 random bits (xorshift64*, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return int((x * np.uint64(2685821657736338717)) >> np.uint64(33))


@kernel
def make_waits() -> Floats:
    """-ln(u) for u in the middle of WAITS equal steps of 0..1: exponential waiting times.

    By sums of 1 / m, because the logarithm of a library differs from CPU to CPU in its last bit.
    """
    waits, total = np.empty(WAITS), 0.0
    for step in range(WAITS - 1, -1, -1):
        total += 0.5 / (step + 0.75)
        waits[step] = total
        total += 0.5 / (step + 0.25)
    return waits
