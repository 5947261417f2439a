"""Count what was really written, with plain Spark SQL and without the kernels' word for it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.names import DRAWN, GROUP, col
from sparkanon.engine.rows import row_hash
from sparkanon.errors import Problem, VerificationError
from sparkanon.measures.anonymity import ClassSizes, class_sizes, singles

_SIZE = "__sparkanon_size"


def verify(
    staged: DataFrame,
    quasi: Sequence[str],
    draws: Sequence[Sequence[str]] | None,
    k: int,
    rows: int,
) -> ClassSizes:
    """The sizes of the classes (or of the groups drawn from), or a refusal to publish."""
    if draws is None:
        classes = staged.groupBy(*(col(name) for name in quasi)).agg(_count().alias(_SIZE))
    else:
        classes = _drawn_groups(staged, draws)
    sizes = _sizes(classes, k)
    problems = []
    if sizes.records != rows:
        problems.append(Problem("rows", f"{rows} were expected and {sizes.records} are staged"))
    if sizes.smallest < k:
        problems.append(Problem("k", f"{sizes.below_k} records are in classes smaller than {k}"))
    if problems:
        raise VerificationError(problems)
    return sizes


def _count() -> Column:
    return F.count(F.lit(1))


def _sizes(classes: DataFrame, k: int) -> ClassSizes:
    """A handful of rows, however many classes there are."""
    size, own = F.col(_SIZE), singles(k)
    bucket = F.when(size < own, size).otherwise(F.floor(F.log2(size / own)) + own)
    found = (
        classes.select(_SIZE)
        .groupBy(bucket)
        .agg(F.min(_SIZE).alias("low"), _count().alias("n"), F.sum(_SIZE).alias("records"))
    )
    rows = found.collect()  # at most 200 + log2(rows) of them
    return class_sizes(k, ((r["low"], r["n"], r["records"]) for r in rows))


def drawn_hashes(draws: Sequence[Sequence[str]], schema: T.StructType) -> list[Column]:
    """For each block that is drawn as a unit, a hash of the original cells beside the row."""
    return [
        row_hash(schema[name] for name in block).alias(f"{DRAWN}{i}")
        for i, block in enumerate(draws)
    ]


def _drawn_groups(staged: DataFrame, draws: Sequence[Sequence[str]]) -> DataFrame:
    """Groups and their sizes; one whose values are not its own, redistributed, has size 0."""
    now = drawn_hashes(draws, staged.schema)
    marked = staged.select(
        GROUP,
        *(hashed.alias(f"now_{i}") for i, hashed in enumerate(now)),
        *(F.col(f"{DRAWN}{i}").alias(f"then_{i}") for i in range(len(draws))),
    )
    same = F.lit(True)
    for i in range(len(draws)):
        exact = "decimal(38,0)"
        same = same & (
            F.sum(F.col(f"now_{i}").cast(exact)) == F.sum(F.col(f"then_{i}").cast(exact))
        )
    return marked.groupBy(GROUP).agg(F.when(same, _count()).otherwise(0).alias(_SIZE))
