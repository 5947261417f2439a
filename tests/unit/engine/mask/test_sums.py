"""What blocks report, added up in any order, and what the sums show on the way."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import xor
from typing import Any

import numpy as np
import pytest

from sparkanon.engine.mask.masking import BlockFacts
from sparkanon.engine.mask.sums import Report, Sums, as_cell
from sparkanon.numeric.records import Scale
from sparkanon.numeric.statistics import ColumnStatistics

BLOCKS = 40_000  # more than a bitmap of Spark has bits
STATISTICS = (
    ColumnStatistics("a", Scale.NUMERIC, n=10**6, nulls=0, mean=3.0, sd=0.125, high=9.0),
    ColumnStatistics("b", Scale.NUMERIC, n=10**6, nulls=0, mean=7.0, high=7.0, low=7.0),
    ColumnStatistics("c", Scale.NOMINAL, n=10**6, nulls=0, pair_difference=0.5),
    ColumnStatistics("d", Scale.NUMERIC, n=10**6, nulls=0, sd=1e140, high=1e141),
)


def added_up(sums: Sums, reports: Sequence[Report]) -> dict[str, Any]:
    """What Spark computes, by the meaning of its functions."""
    cells = [as_cell(report) for report in reports]
    found: dict[str, Any] = {}
    for name in sums.asked():
        kind, _, number = name.partition("_")
        places = {"first": 0, "last": 1, "undone": 2, "xor": 3, "sum": int(number or 0)}
        values = [int(cell[places[kind]]) for cell in cells if cell[places[kind]] is not None]
        if kind in ("first", "last"):
            bits = np.zeros(2**15, np.uint8)
            start = int(number) * 2**15
            bits[[value - start for value in values if start <= value < start + 2**15]] = 1
            found[name] = bytearray(np.packbits(bits, bitorder="little").tobytes())
        elif kind == "xor":
            found[name] = reduce(xor, values) if values else None
        else:
            found[name] = Decimal(sum(values)) if values else None
    return found


def facts_of(block: int, rng: np.random.Generator) -> BlockFacts:
    errors = (rng.random() * 1e4, 0.25, float(rng.integers(100)), rng.random() * 1e285)
    keys = tuple(int(key) for key in rng.integers(0, 2**64, 2, np.uint64))
    return BlockFacts(block, True, errors, (keys[0], keys[1]))


def test_sums_are_exact_in_any_order(rng: np.random.Generator) -> None:
    sums = Sums.of(STATISTICS, BLOCKS, BLOCKS)
    facts = [facts_of(int(block), rng) for block in rng.choice(BLOCKS, 300, replace=False)]
    reports = [sums.masked(one) for one in facts]
    found = added_up(sums, reports)
    assert added_up(sums, reports[::-1]) == found
    assert sums.done(found) == {one.block for one in facts}
    assert sums.all_done(found)
    either, total = sums.keys(found)
    assert either == reduce(xor, (one.keys[0] for one in facts))
    assert total == sum(one.keys[1] for one in facts)
    columns = zip(*(one.errors for one in facts), strict=True)
    exact = [float(sum(map(Fraction, column))) for column in columns]
    exact[1] = 0.0  # a constant column has nothing to lose
    assert sums.errors(found) == pytest.approx(exact, rel=1e-14)


def test_blocks_that_are_not_done_are_known() -> None:
    sums = Sums.of(STATISTICS, 3, 2)
    first = [sums.handed_over(block, done=block != 1) for block in range(3)]
    found = added_up(sums, [*first, sums.masked(BlockFacts(0))])
    assert sums.handed(found) == {0, 2}
    assert not sums.all_done(found)
    assert sums.done(found) == frozenset()


def test_a_sum_shows_nothing_of_a_block(rng: np.random.Generator) -> None:
    """Listeners of the session get the sums; the random numbers in them are new in every run."""
    facts = facts_of(7, rng)
    one, other = (Sums.of(STATISTICS, 8, 8).masked(facts) for _ in range(2))
    for place in range(3, 3 + 2 + len(STATISTICS)):
        assert one[place] != other[place]
    assert one[3] != facts.keys[0]
    random = [Sums.of(STATISTICS, 8, 8).masked(facts) for _ in range(2000)]
    tops = np.array([[int(n) >> 93 for n in report[4:] if n is not None] for report in random])
    assert np.abs(tops.mean(axis=0) - 3.5).max() < 0.25, "the first bits are as good as random"
    bits = np.array([[(int(report[3] or 0) >> i) & 1 for i in range(64)] for report in random])
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.06
    assert "key" not in repr(Sums.of(STATISTICS, 8, 8))
