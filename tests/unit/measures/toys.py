"""Small tables for the tests of measures: NaN is a null."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from sparkanon.measures import Given, Measure, MeasureSpec
from sparkanon.measures.tally import Tally
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Column, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics

T = TypeVar("T", bound=Tally)


def table(*columns: Sequence[float], scales: Sequence[Scale] = ()) -> Records:
    """Columns a, b, c, ..., numeric if nothing else is said."""
    found = []
    for at, cells in enumerate(columns):
        values = np.asarray(cells, dtype=np.float64)
        null = np.isnan(values)
        scale = scales[at] if scales else Scale.NUMERIC
        found.append(Column("abcdefgh"[at], scale, np.where(null, 0.0, values), null))
    return tuple(found)


def statistics(records: Records) -> list[ColumnStatistics]:
    found = []
    for column in records:
        held = column.values[~column.null]
        nulls = int(column.null.sum())
        moments = (float(held.mean()), float(held.std())) if held.size else (0.0, 0.0)
        found.append(
            ColumnStatistics(column.name, column.scale, column.null.size, nulls, *moments)
        )
    return found


def rows(records: Records, at: np.ndarray) -> Records:
    return tuple(Column(c.name, c.scale, c.values[at], c.null[at]) for c in records)


def merged(local: Callable[[np.ndarray], T], n: int, blocks: int) -> T:
    """The tally of n rows, counted in that many blocks; an empty one is among them."""
    ends = np.sort(np.random.default_rng(blocks).integers(0, n + 1, blocks - 1))
    parts = np.split(np.arange(n), ends)
    return reduce(add, [local(part) for part in [*parts, np.arange(0)]])


def values(measures: Sequence[Measure], column: str | None = None) -> dict[str, float | None]:
    """Measure -> value, of the table or of one column."""
    return {m.measure: m.value for m in measures if m.column == column}


def taken(
    specs: Sequence[MeasureSpec],
    answers: Mapping[Need[Any], Any],
    stats: Sequence[ColumnStatistics],
    *,
    paired: bool = True,
) -> list[Measure]:
    """The measures of some specs whose needs are answered; more than they ask for is an error."""
    given = Given(tuple(stats), k=2, paired=paired)
    known = Known(answers)
    assert {need for spec in specs for need in spec.needs(given)} <= set(answers)
    return [measure for spec in specs for measure in spec.finish(given, known)]
