"""Answer what the methods of a run need to know about its table, from Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.count.passes import tally
from sparkanon.engine.fit.facts import Facts, sample_column
from sparkanon.engine.fit.quantiles import numbers_of, quantiles
from sparkanon.engine.sql.names import KEY, quoted
from sparkanon.engine.sql.rows import row_hash, sampled
from sparkanon.needs import Answering, Known, Need
from sparkanon.numeric.class_sums import ClassSums
from sparkanon.numeric.records import Records
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.releases.needs import Limits, NumberOf, Quantiles
from sparkanon.spaces.needs import (
    SAMPLE_ROWS,
    ClassMoments,
    ClassSample,
    GroupSize,
    Moments,
    MomentsByClass,
    SampleByClass,
    moments_by_class,
    sample_by_class,
    sums_by_class,
)

_CLASS = "__sparkanon_class"


@dataclass(frozen=True)
class Source:
    """What the answers are made from: the rows that take part, with their keys."""

    rows: DataFrame
    facts: Facts
    k: int | None  # None where no groups are going to be made


def _moments(
    source: Source, needs: Sequence[Moments], known: Known
) -> Mapping[Moments, tuple[ColumnStatistics, ...]]:
    """The statistics, which `gather` counted together with everything else."""
    return dict.fromkeys(needs, source.facts.statistics)


def _group_size(
    source: Source, needs: Sequence[GroupSize], known: Known
) -> Mapping[GroupSize, int]:
    if source.k is None:
        raise ValueError("no groups are made, so they have no size")
    return dict.fromkeys(needs, source.k)


def _class_moments(
    source: Source, needs: Sequence[ClassMoments], known: Known
) -> Mapping[ClassMoments, MomentsByClass]:
    """A pass for each target. Sums are exact: the same in whatever order Spark adds them up."""
    counting = _ByClass(known[Moments()])
    found = {}
    for need in needs:
        sums = tally(_with_classes(source, need.target), counting) or ClassSums({})
        found[need] = moments_by_class(sums, "method.space.target")
    return found


def _class_sample(
    source: Source, needs: Sequence[ClassSample], known: Known
) -> Mapping[ClassSample, SampleByClass]:
    """A hash sample for each target, in the order of the row keys."""
    found = {}
    for need in needs:
        total = float(known[ClassMoments(need.target)].counts.sum())
        some = sampled(SAMPLE_ROWS / max(total, 1.0))
        drawn = _with_classes(source, need.target, some, KEY).toArrow()
        drawn = drawn.sort_by([(name, "ascending") for name in drawn.column_names])
        records = _records(drawn, source.facts.statistics)
        found[need] = sample_by_class(records, drawn.column(_CLASS).to_numpy())
    return found


def _quantiles(
    source: Source, needs: Sequence[Quantiles], known: Known
) -> Mapping[Need[Any], Limits]:
    return quantiles(source.rows, source.facts.quasi, needs)


def _numbers(source: Source, needs: Sequence[NumberOf], known: Known) -> Mapping[Need[Any], float]:
    return numbers_of(source.facts.quasi, needs)


ANSWERS: Mapping[type[Need[Any]], Answering[Source]] = {
    Moments: _moments,
    GroupSize: _group_size,
    ClassMoments: _class_moments,
    ClassSample: _class_sample,
    Quantiles: _quantiles,
    NumberOf: _numbers,
}


def _with_classes(source: Source, target: str, where: str = "true", *first: str) -> DataFrame:
    """The columns `first`, the class and the numbers of the rows that have a class.

    A class is named by a hash, so that no label leaves Spark.
    """
    hashed = F.expr(row_hash([source.rows.schema[target]]))
    labelled = source.rows.filter(f"{quoted(target)} is not null").withColumn(_CLASS, hashed)
    numbers = (f"{q.number} as q{i}" for i, q in enumerate(source.facts.quasi))
    return labelled.filter(where).selectExpr(*first, _CLASS, *numbers)


def _records(cells: pa.Table, statistics: Sequence[ColumnStatistics]) -> Records:
    return tuple(
        sample_column(s.name, s.scale, cells.column(f"q{i}").combine_chunks())[0]
        for i, s in enumerate(statistics)
    )


@dataclass(frozen=True)
class _ByClass:
    """Counts sums of z-scores by class; see `tally`."""

    statistics: tuple[ColumnStatistics, ...]

    def count(self, cells: pa.Table) -> ClassSums:
        records = _records(cells, self.statistics)
        return sums_by_class(cells.column(_CLASS).to_numpy(), records, self.statistics)
