"""Count what was really written, with plain Spark SQL and without the kernels' word for it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.count.class_sizes import SIZE, class_sizes_of, size_buckets
from sparkanon.engine.sql.names import DRAWN, GROUP, quoted
from sparkanon.engine.sql.rows import row_hash
from sparkanon.errors import Problem, VerificationError
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.promises import Promise


def verify(
    staged: DataFrame,
    quasi: Sequence[str],
    promise: Promise,
    rows: int,
) -> ClassSizes:
    """The sizes of the classes (or of the groups drawn from), or a refusal to publish."""
    k = promise.k
    if promise.grouped:
        sizes = class_sizes_of(_drawn_groups(staged, promise.blocks), k)
    else:
        sizes = size_buckets(staged.groupBy(*map(quoted, quasi)), k)
    problems = []
    if sizes.records != rows:
        problems.append(Problem("rows", f"{rows} were expected and {sizes.records} are staged"))
    if sizes.smallest < k:
        problems.append(Problem("k", f"{sizes.below_k} records are in classes smaller than {k}"))
    if problems:
        raise VerificationError(problems)
    return sizes


def drawn_hashes(
    draws: Sequence[Sequence[str]], schema: T.StructType, named: str = DRAWN
) -> list[str]:
    """For each block that is drawn as a unit, a hash of the original cells beside the row."""
    return [
        f"{row_hash(schema[name] for name in block)} as {named}{i}"
        for i, block in enumerate(draws)
    ]


def _drawn_groups(staged: DataFrame, draws: Sequence[Sequence[str]]) -> DataFrame:
    """Groups and their sizes; one whose values are not its own, redistributed, has size 0."""
    then = [f"{DRAWN}{i} as then_{i}" for i in range(len(draws))]
    marked = staged.selectExpr(GROUP, *then, *drawn_hashes(draws, staged.schema, "now_"))
    same = " and ".join(
        f"sum(cast(now_{i} as decimal(38, 0))) = sum(cast(then_{i} as decimal(38, 0)))"
        for i in range(len(draws))
    )
    same = same or "true"  # made anew from the group: its size is all there is to count
    return marked.groupBy(GROUP).agg(F.expr(f"if({same}, count(1), 0) as {SIZE}"))
