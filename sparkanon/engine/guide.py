"""Fit the space of a policy; one that is guided by a column first hears about its classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.columns import Quasi
from sparkanon.engine.fit import Facts, sample_column
from sparkanon.engine.names import KEY, quoted
from sparkanon.engine.rows import row_hash, sampled
from sparkanon.errors import InputError, Problem
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import Policy
from sparkanon.spaces import Classes, FittedSpace
from sparkanon.spaces.base import MOST_CLASSES, SAMPLE_ROWS, classes_problem

_CLASS = "__sparkanon_class"


def fit_space(table: DataFrame, facts: Facts, policy: Policy) -> FittedSpace:
    """The fitted space of the policy, for the rows that take part."""
    space = policy.method.space
    target = space.guide()
    if target is None:
        return space.fit(facts.statistics)
    return space.fit(facts.statistics, class_moments(table, facts, target, policy.k))


def class_moments(table: DataFrame, facts: Facts, target: str, k: int) -> Classes:
    """Counts, means and covariances by class in one aggregation, and a hash sample.

    Classes are told apart by a hash, so that no label leaves Spark.
    """
    labelled = table.filter(f"{quoted(target)} is not null")
    labelled = labelled.withColumn(_CLASS, F.expr(row_hash([table.schema[target]])))
    d = len(facts.quasi)
    pairs = [(i, j) for i in range(d) for j in range(i + 1)]
    sums = [
        "count(1) as n",
        *(f"avg(z{i}) as m{i}" for i in range(d)),
        *(f"sum(z{i} * z{j}) as p{i}_{j}" for i, j in pairs),
    ]
    scores = _scores(facts.quasi, facts.statistics)
    found = labelled.selectExpr(_CLASS, *scores).groupBy(_CLASS).agg(*map(F.expr, sums))
    rows = sorted(found.limit(MOST_CLASSES + 1).collect(), key=lambda row: row[_CLASS])
    problem = classes_problem(len(rows))
    if problem is not None:
        raise InputError(Problem("method.space.target", problem))
    counts = np.array([row["n"] for row in rows], dtype=np.float64)
    means = np.array([[row[f"m{i}"] for i in range(d)] for row in rows])
    products = np.zeros((d, d))
    for i, j in pairs:
        products[i, j] = products[j, i] = sum(row[f"p{i}_{j}"] for row in rows)
    total = counts.sum()
    within = (products - (means.T * counts) @ means) / total
    share = SAMPLE_ROWS / max(float(total), 1.0)
    numbers = [f"{q.number} as q{i}" for i, q in enumerate(facts.quasi)]
    drawn = labelled.filter(sampled(share)).selectExpr(KEY, _CLASS, *numbers).toArrow()
    drawn = drawn.sort_by([(name, "ascending") for name in drawn.column_names])
    sample = tuple(
        sample_column(q.name, q.scale, drawn.column(f"q{i}").combine_chunks())[0]
        for i, q in enumerate(facts.quasi)
    )
    codes = np.searchsorted([row[_CLASS] for row in rows], drawn.column(_CLASS).to_numpy())
    return Classes(counts, means, within, sample, codes.astype(np.int64), k)


def _scores(quasi: Sequence[Quasi], statistics: Sequence[ColumnStatistics]) -> list[str]:
    """z-scores in SQL, 0 for a null and in a constant column."""
    found = []
    for i, (q, s) in enumerate(zip(quasi, statistics, strict=True)):
        unit = s.steady_sd()
        score = f"({q.number} - {s.steady_mean()!r}d) / {unit!r}d" if unit > 0 else "0d"
        found.append(f"coalesce({score}, 0d) as z{i}")
    return found
