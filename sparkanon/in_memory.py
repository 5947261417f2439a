"""Answer what a method needs to know about a table that is held in memory, without Spark.

What is counted is defined beside the needs; `engine/fit/answers.py` counts the same on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparkanon.errors import InputError, Problem
from sparkanon.needs import Answering, Known, Need
from sparkanon.numeric.exact import exact_sums
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces.needs import (
    SAMPLE_ROWS,
    ClassMoments,
    ClassSample,
    GroupSize,
    Longs,
    Moments,
    MomentsByClass,
    SampleByClass,
    moments_by_class,
    sample_by_class,
    sums_by_class,
)


@dataclass(frozen=True)
class Table:
    """What the answers are made from; `classes` (n,) are those of whatever target is asked for."""

    records: Records
    k: int
    classes: Longs


def statistics_of(column: Column) -> ColumnStatistics:
    """What Spark's aggregations say about a column; not all of its cells are null."""
    n, values = len(column.values), column.values[~column.null]
    made = ColumnStatistics(column.name, column.scale, n, nulls=int(column.null.sum()))
    if column.scale is Scale.NOMINAL:
        sizes = np.unique(np.where(column.null, -1.0, column.values), return_counts=True)[1]
        squares = sum(int(size) ** 2 for size in sizes)
        return replace(made, pair_difference=1.0 - squares / n**2)
    mean, sd = _mean_and_sd(values)
    made = replace(made, mean=mean, sd=sd, low=float(values.min()), high=float(values.max()))
    if made.problem is not None or made.is_steady:
        return made
    return made.made_steady(exact_sums(values))


def _mean_and_sd(values: Floats) -> tuple[float, float]:
    if values.min() == values.max():
        return float(values[0]), 0.0  # a constant column, whose sum may overflow
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused later, in words
        return float(values.mean()), float(values.std())


def _moments(
    table: Table, needs: Sequence[Moments], known: Known
) -> Mapping[Moments, tuple[ColumnStatistics, ...]]:
    statistics = tuple(map(statistics_of, table.records))
    problems = [Problem(f"values.{s.name}", s.problem) for s in statistics if s.problem]
    if problems:
        raise InputError(problems)
    return dict.fromkeys(needs, statistics)


def _group_size(table: Table, needs: Sequence[GroupSize], known: Known) -> Mapping[GroupSize, int]:
    return dict.fromkeys(needs, table.k)


def _class_moments(
    table: Table, needs: Sequence[ClassMoments], known: Known
) -> Mapping[ClassMoments, MomentsByClass]:
    sums = sums_by_class(table.classes, table.records, known[Moments()])
    return dict.fromkeys(needs, moments_by_class(sums, "classes"))


def _class_sample(
    table: Table, needs: Sequence[ClassSample], known: Known
) -> Mapping[ClassSample, SampleByClass]:
    """Records evenly spread over the table."""
    n = len(table.classes)
    some = np.arange(0, n, max(1, -(-n // SAMPLE_ROWS)))
    records = tuple(column.rows(some) for column in table.records)
    return dict.fromkeys(needs, sample_by_class(records, table.classes[some]))


ANSWERS: Mapping[type[Need[Any]], Answering[Table]] = {
    Moments: _moments,
    GroupSize: _group_size,
    ClassMoments: _class_moments,
    ClassSample: _class_sample,
}
