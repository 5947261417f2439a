"""Count on the staged table whether the promise holds, in plain Spark SQL without the kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.count.class_sizes import SIZE, class_sizes_of, size_buckets
from sparkanon.engine.sql.names import DRAWN, GROUP, quoted
from sparkanon.engine.sql.rows import row_hash
from sparkanon.errors import Problem, VerificationError, counted
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.promises import Classes, DrawnFrom, MadeFrom, Measured, Promise

TORN = "torn"


@dataclass(frozen=True)
class Counted:
    """Sizes of the classes, or of the groups drawn from, and what else breaks the promise."""

    sizes: ClassSizes
    problems: tuple[Problem, ...] = ()


def verify(staged: DataFrame, promise: Promise, records: int, few: int) -> ClassSizes:
    """The sizes of the classes (or of the groups drawn from), or a refusal to publish.

    `records` take part in the release. Classes of fewer than `few` are counted together.
    """
    found = VERIFIERS[type(promise)](staged, promise, few)
    sizes, k = found.sizes, promise.k
    problems = list(found.problems)
    if not promise.rows.allow(records, sizes.records):
        staged_rows = counted(sizes.records, "row is staged", "rows are staged")
        taking_part = counted(records, "record")
        text = (
            f"{staged_rows} for {taking_part}; the promise on the number of rows: {promise.rows}"
        )
        problems.append(Problem("rows", text))
    if k is not None and sizes.smallest < k:
        few_records = counted(sizes.below_k, "record is", "records are")
        problems.append(Problem("k", f"{few_records} in classes of fewer than {k}"))
    if problems:
        raise VerificationError(problems)
    return sizes


def classes_of(promise: Promise) -> list[str]:
    """The columns of the staged table, in SQL, whose values make one class or group."""
    return [GROUP] if promise.numbered else [quoted(name) for name in promise.columns]


def _classes(staged: DataFrame, promise: Promise, few: int) -> Counted:
    """Rows that look the same make a class."""
    return Counted(size_buckets(staged.groupBy(*classes_of(promise)), few))


def _groups(staged: DataFrame, promise: Promise, few: int) -> Counted:
    """Groups by their numbers, each with its own values."""
    groups = _drawn_groups(staged, promise.units)
    problems: tuple[Problem, ...] = ()
    if promise.units and groups.filter(TORN).isEmpty():
        text = (
            "nothing is torn apart: in every group all cells but those of one block are equal, so "
            "that the published rows are the original rows; make other blocks"
        )
        problems = (Problem("method.release.blocks", text),)
    return Counted(class_sizes_of(groups, few), problems)


# The function that counts each promise. A release whose promise has none cannot be published.
VERIFIERS: Mapping[type[Promise], Callable[[DataFrame, Promise, int], Counted]] = {
    Classes: _classes,
    DrawnFrom: _groups,
    MadeFrom: _groups,
    Measured: _classes,  # promises only the number of rows; the sizes of classes are reported
}


def drawn_hashes(
    draws: Sequence[Sequence[str]], schema: T.StructType, named: str = DRAWN
) -> list[str]:
    """For each block that is drawn as a unit, a hash of the original cells beside the row."""
    return [
        f"{row_hash(schema[name] for name in block)} as {named}{i}"
        for i, block in enumerate(draws)
    ]


def _drawn_groups(staged: DataFrame, draws: Sequence[Sequence[str]]) -> DataFrame:
    """Groups and their sizes; a group whose values are not its own original ones has size 0.

    A group counts as torn if the cells of two of its blocks vary, or of one block and of the
    columns that stay: only then does it hide which cells belonged together.
    """
    drawn = {GROUP, *(name for block in draws for name in block)}
    drawn |= {f"{DRAWN}{i}" for i in range(len(draws))}
    staying = [field for field in staged.schema.fields if field.name not in drawn]
    then = [f"{DRAWN}{i} as then_{i}" for i in range(len(draws))]
    now = drawn_hashes(draws, staged.schema, "now_")
    stays = f"{row_hash(staying)} as stays" if staying else "0L as stays"
    marked = staged.selectExpr(GROUP, *then, *now, stays)
    same = " and ".join(
        f"sum(cast(now_{i} as decimal(38, 0))) = sum(cast(then_{i} as decimal(38, 0)))"
        for i in range(len(draws))
    )
    same = same or "true"  # invented records: only the size of the group can be counted
    parts = ["stays", *(f"now_{i}" for i in range(len(draws)))]
    vary = " + ".join(f"cast(min({part}) < max({part}) as int)" for part in parts)
    return marked.groupBy(GROUP).agg(
        F.expr(f"if({same}, count(1), 0) as {SIZE}"), F.expr(f"{vary} > 1 as {TORN}")
    )
