"""Fit the space of a policy; one that is guided by a column first hears about its classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.count.passes import tally
from sparkanon.engine.fit.facts import Facts, sample_column
from sparkanon.engine.sql.names import KEY, quoted
from sparkanon.engine.sql.rows import row_hash, sampled
from sparkanon.errors import InputError, Problem
from sparkanon.numeric.class_sums import ClassSums, class_sums
from sparkanon.numeric.records import Floats
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces import Classes, FittedSpace, Space
from sparkanon.spaces.base import MOST_CLASSES, SAMPLE_ROWS, classes_problem

_CLASS = "__sparkanon_class"


def fit_space(table: DataFrame, facts: Facts, space: Space, k: int) -> FittedSpace:
    """The fitted space, for the rows that take part."""
    target = space.guide()
    if target is None:
        return space.fit(facts.statistics)
    return space.fit(facts.statistics, class_moments(table, facts, target, k))


def class_moments(table: DataFrame, facts: Facts, target: str, k: int) -> Classes:
    """Counts, means and covariances by class in one pass, and a hash sample.

    Classes are told apart by a hash, so that no label leaves Spark. Sums are exact, so that they
    are the same in whatever order Spark adds them up.
    """
    labelled = table.filter(f"{quoted(target)} is not null")
    labelled = labelled.withColumn(_CLASS, F.expr(row_hash([table.schema[target]])))
    numbers = [f"{q.number} as q{i}" for i, q in enumerate(facts.quasi)]
    counted: ClassSums | None = tally(
        labelled.selectExpr(_CLASS, *numbers), _ClassCounting(facts.statistics)
    )
    found = counted if counted is not None else ClassSums({})
    problem = classes_problem(len(found.by_class))
    if problem is not None:
        raise InputError(Problem("method.space.target", problem))
    counts, means, within = found.moments()
    total = counts.sum()
    share = SAMPLE_ROWS / max(float(total), 1.0)
    drawn = labelled.filter(sampled(share)).selectExpr(KEY, _CLASS, *numbers).toArrow()
    drawn = drawn.sort_by([(name, "ascending") for name in drawn.column_names])
    sample = tuple(
        sample_column(q.name, q.scale, drawn.column(f"q{i}").combine_chunks())[0]
        for i, q in enumerate(facts.quasi)
    )
    codes = np.searchsorted(sorted(found.by_class), drawn.column(_CLASS).to_numpy())
    return Classes(counts, means, within, sample, codes.astype(np.int64), k)


@dataclass(frozen=True)
class _ClassCounting:
    """Sums of z-scores by class, for `tally`."""

    statistics: tuple[ColumnStatistics, ...]

    def count(self, cells: pa.Table) -> ClassSums:
        scores = np.stack([self._scores(cells, i) for i in range(len(self.statistics))], axis=1)
        return class_sums(cells.column(_CLASS).to_numpy(), scores, MOST_CLASSES + 1)

    def _scores(self, cells: pa.Table, i: int) -> Floats:
        """z-scores, 0 for a null and in a constant column."""
        unit, mean = self.statistics[i].steady_sd(), self.statistics[i].steady_mean()
        values = cells.column(f"q{i}").combine_chunks()
        if unit <= 0:
            return np.zeros(len(values))
        filled = values.fill_null(mean).to_numpy(zero_copy_only=False)
        return np.asarray((filled - mean) / unit, np.float64)
