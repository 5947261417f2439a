"""What the whole table says: statistics, a hash sample, and the refusals that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.blocks import Sample
from sparkanon.engine.count.passes import tally
from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.sql.names import KEY, col, quoted, text
from sparkanon.engine.sql.rows import row_hash, sampled
from sparkanon.engine.table.columns import Columns, Quasi
from sparkanon.errors import InputError, Problem, counted
from sparkanon.numeric.exact import exact_sums
from sparkanon.numeric.records import Column, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import NullPolicy

SAMPLE_ROWS = 32_000
SAMPLE_PER_BLOCK = 64


@dataclass(frozen=True)
class Facts:
    """Counts of the whole table, after one aggregation."""

    rows_in: int
    rows: int  # that take part: all, or under `drop_row` those without a null
    quasi: tuple[Quasi, ...]  # with their origins
    statistics: tuple[ColumnStatistics, ...]


def with_key(table: DataFrame, columns: Columns) -> DataFrame:
    """The released columns, with null for NaN, and the key of the whole original row."""
    clean = {quasi.name: quasi.clean for quasi in columns.quasi}
    names = [(field.name, quoted(field.name)) for field in columns.released]
    return table.selectExpr(
        *(f"{clean.get(name, cell)} as {cell}" for name, cell in names),
        f"{row_hash(table.schema.fields)} as {KEY}",
    )


def for_masking(table: DataFrame, quasi: Sequence[Quasi]) -> DataFrame:
    """The table with its quasi-identifiers as they are handed to the kernels."""
    other = {q.name: F.expr(q.for_masking) for q in quasi if q.for_masking != q.cell}
    return table.withColumns(other) if other else table  # Spark Connect takes no empty list


def usable(quasi: Sequence[Quasi]) -> str:
    """Whether a row has a finite value in every quasi-identifier, in SQL."""
    return " and ".join(f"not {_infinite(q)} and {q.cell} is not null" for q in quasi)


def _infinite(quasi: Quasi) -> str:
    if quasi.spark.typeName() not in ("float", "double"):
        return "false"
    return f"coalesce(abs({quasi.cell}) = cast('Infinity' as double), false)"


def gather(
    table: DataFrame, columns: Columns, k: int | None, nulls: NullPolicy, views: HiddenViews
) -> Facts:
    """One pass over the table (and one over its nominal columns), or a refusal.

    `views` hold the values made from cells that expressions need and plans must not show.
    """
    kept = usable(columns.quasi) if nulls is NullPolicy.DROP_ROW else None
    wanted = {
        "rows_in": "count(1)",
        "rows": f"count({_where(kept, '1')})",
    }
    for i, quasi in enumerate(columns.quasi):
        wanted[f"filled_{i}"] = f"count({quasi.cell})"
        if quasi.allowed is not None:
            listed = ", ".join(map(text, quasi.allowed))
            wanted[f"read_{i}"] = f"count_if({quasi.number} in ({listed}))"
        if quasi.scale is Scale.NOMINAL:
            continue
        if quasi.order is not None:
            wanted[f"read_{i}"] = f"count({quasi.number})"
        wanted |= _moments(quasi, i, kept)
        exact = _where(kept, quasi.steps if quasi.whole else quasi.number)
        wanted[f"low_{i}"] = f"min({exact})"
        wanted[f"high_{i}"] = f"max({exact})"
    if columns.weight is not None:
        wanted |= _weights(columns.weight, kept)
    counts = _counted(table, wanted)
    counts |= _odd_cells(table, columns, counts)
    problems = _refusals(counts, columns, k, nulls)
    if problems:
        raise InputError(problems)
    shifted = tuple(
        q.from_origin(counts[f"low_{i}"], counts[f"high_{i}"], views)
        if q.whole and q.scale is not Scale.NOMINAL
        else q
        for i, q in enumerate(columns.quasi)
    )
    counts |= _shifted_moments(table, shifted, kept)
    statistics = tuple(_statistics(q, i, counts, nulls) for i, q in enumerate(shifted))
    problems = [
        Problem(f"columns.{s.name}", f"{s.problem}; clean or rescale it")
        for s in statistics
        if s.problem is not None
    ]
    if problems:
        raise InputError(problems)
    rows = table if kept is None else table.filter(kept)
    statistics = _made_steady(rows, shifted, statistics)
    return Facts(
        rows_in=counts["rows_in"],
        rows=counts["rows"],
        quasi=shifted,
        statistics=_with_pair_differences(rows, statistics, counts["rows"]),
    )


@dataclass(frozen=True)
class _Exactly:
    """Counts exact sums of these columns; see `tally`."""

    names: tuple[str, ...]

    def count(self, cells: pa.Table) -> npt.NDArray[np.object_]:
        columns = (cells.column(name).drop_null().to_numpy() for name in self.names)
        sums = np.empty(len(self.names), dtype=object)
        sums[:] = [exact_sums(column) for column in columns]
        return sums


def _made_steady(
    rows: DataFrame, quasi: Sequence[Quasi], statistics: tuple[ColumnStatistics, ...]
) -> tuple[ColumnStatistics, ...]:
    """Take mean and sd of some columns from exact sums, in one more pass.

    Spark adds up partitions in any order, so the last bits vary from run to run. They matter
    only where a value lies on the edge between two roundings, which is rare.
    """
    names = {i: f"c{i}" for i, s in enumerate(statistics) if not s.is_steady}
    if not names:
        return statistics
    numbers = rows.selectExpr(*(f"{quasi[i].number} as {name}" for i, name in names.items()))
    sums = dict(zip(names, tally(numbers, _Exactly(tuple(names.values()))), strict=True))
    return tuple(s.made_steady(sums[i]) if i in sums else s for i, s in enumerate(statistics))


def _weights(name: str, kept: str | None) -> dict[str, str]:
    """What can be wrong with weights, counted over the rows that take part."""
    number = f"cast({quoted(name)} as double)"
    usual = f"coalesce(abs({number}) < cast('Infinity' as double), false)"  # NaN is above all
    return {
        "weights_missing": f"count_if({_where(kept, f'not {usual}')})",
        "weights_negative": f"count_if({_where(kept, f'{usual} and {number} < 0')})",
        "weights_positive": f"count_if({_where(kept, f'{usual} and {number} > 0')})",
    }


def _where(kept: str | None, cell: str) -> str:
    return cell if kept is None else f"if({kept}, {cell}, null)"


def _counted(table: DataFrame, wanted: Mapping[str, str]) -> dict[str, Any]:
    (found,) = table.selectExpr(*(f"{sql} as {name}" for name, sql in wanted.items())).collect()
    return dict(found.asDict())


def _odd_cells(table: DataFrame, columns: Columns, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Count infinities and impossible days only where the extremes show that there are some."""
    wanted = {}
    for i, quasi in enumerate(columns.quasi):
        ends = [counts.get(f"{end}_{i}") or 0 for end in ("low", "high")]
        if float("inf") in map(abs, ends):
            wanted[f"infinite_{i}"] = f"count_if({_infinite(quasi)})"
        elif quasi.outside is not None and not quasi.holds(*ends):
            wanted[f"outside_{i}"] = f"count_if({quasi.outside})"
    return _counted(table, wanted) if wanted else {}


def _moments(quasi: Quasi, i: int, kept: str | None) -> dict[str, str]:
    fit = _where(kept, quasi.number)
    return {f"mean_{i}": f"avg({fit})", f"sd_{i}": f"stddev_pop({fit})"}


def _shifted_moments(table: DataFrame, quasi: Sequence[Quasi], kept: str | None) -> dict[str, Any]:
    """Whole numbers beyond 2^53 are counted from their origin, in a pass of their own."""
    far = [(i, q) for i, q in enumerate(quasi) if q.shift]
    wanted = {name: m for i, q in far for name, m in _moments(q, i, kept).items()}
    return _counted(table, wanted) if wanted else {}


def _refusals(
    counts: Mapping[str, Any], columns: Columns, k: int | None, nulls: NullPolicy
) -> list[Problem]:
    if counts["rows_in"] == 0:
        return [Problem("input", "the table is empty")]
    problems = []
    for i, quasi in enumerate(columns.quasi):
        path = f"columns.{quasi.name}"
        filled = counts[f"filled_{i}"]
        missing = counts["rows_in"] - filled
        if filled == 0:
            problems.append(Problem(path, "every cell is null (or NaN); keep or drop the column"))
        elif missing and nulls is NullPolicy.REJECT:
            cells = counted(missing, "cell is", "cells are")
            text = f"{cells} null or NaN, and the policy says nulls: reject"
            problems.append(Problem(path, text))
        unread = filled - counts.get(f"read_{i}", filled)
        if unread:
            by_tree = f"method.release.taxonomies.{quasi.name}"
            where = f"{path}.order" if quasi.allowed is None else by_tree
            cells = counted(unread, "cell holds", "cells hold")
            problems.append(Problem(where, f"{cells} a value not listed"))
        infinite = counts.get(f"infinite_{i}", 0)
        if infinite and nulls is not NullPolicy.DROP_ROW:
            cells = counted(infinite, "cell is", "cells are")
            text = f"{cells} infinite; clean the column or say nulls: drop_row"
            problems.append(Problem(path, text))
        outside = counts.get(f"outside_{i}", 0)
        if outside:
            cells = counted(outside, "cell is a date", "cells are dates")
            text = f"{cells} outside of the years 1 to 9999; clean the column"
            problems.append(Problem(path, text))
    if columns.weight is not None:
        problems += _weight_problems(counts, f"columns.{columns.weight}")
    if not problems and k is not None and counts["rows"] < k:
        dropped = counts["rows_in"] - counts["rows"]
        rows = counted(counts["rows"], "row")
        nulls_dropped = counted(dropped, "row with nulls was", "rows with nulls were")
        after = f" after {nulls_dropped} dropped" if dropped else ""
        problems.append(Problem("k", f"is {k}, more than the {rows}{after}"))
    if not problems and counts["rows"] == 0:
        problems.append(Problem("nulls", "every row has a null and is dropped"))
    return problems


def _weight_problems(counts: Mapping[str, Any], path: str) -> list[Problem]:
    missing, negative = counts["weights_missing"], counts["weights_negative"]
    problems = []
    if missing:
        weights = counted(missing, "weight is", "weights are")
        problems.append(Problem(path, f"{weights} null, NaN or infinite"))
    if negative:
        weights = counted(negative, "weight is", "weights are")
        problems.append(Problem(path, f"{weights} negative"))
    if not missing and not negative and counts["rows"] and not counts["weights_positive"]:
        problems.append(Problem(path, "every weight is 0"))
    return problems


def _statistics(
    quasi: Quasi, i: int, counts: Mapping[str, Any], nulls: NullPolicy
) -> ColumnStatistics:
    keeps_nulls = nulls is NullPolicy.OWN_CATEGORY
    missing = int(counts["rows_in"] - counts[f"filled_{i}"]) if keeps_nulls else 0
    made = ColumnStatistics(quasi.name, quasi.scale, n=int(counts["rows"]), nulls=missing)
    if quasi.scale is Scale.NOMINAL:
        return made
    low, high = (float(counts[f"{end}_{i}"] - quasi.origin) for end in ("low", "high"))
    mean, sd = counts[f"mean_{i}"], counts[f"sd_{i}"]
    if counts[f"low_{i}"] == counts[f"high_{i}"]:
        mean, sd = low, 0.0  # the sums behind them overflow where the value itself is fine
    return replace(made, mean=mean, sd=sd, low=low, high=high)


def _with_pair_differences(
    table: DataFrame, statistics: tuple[ColumnStatistics, ...], rows: int
) -> tuple[ColumnStatistics, ...]:
    """Count every category of every nominal column, in one more pass."""
    nominal = [(i, s.name) for i, s in enumerate(statistics) if s.scale is Scale.NOMINAL]
    if not nominal:
        return statistics
    cells = [
        F.struct(F.lit(i).alias("at"), col(n).cast("string").alias("cell")) for i, n in nominal
    ]
    sizes = table.select(F.explode(F.array(*cells)).alias("c")).groupBy("c").count()
    square = "sum(cast(count as decimal(19, 0)) * count) as squares"  # the same in any order
    squares = sizes.groupBy("c.at").agg(F.expr(square))
    by_place = {row["at"]: row["squares"] for row in squares.collect()}  # one row a column
    return tuple(
        replace(s, pair_difference=1.0 - int(by_place[i]) / rows**2) if i in by_place else s
        for i, s in enumerate(statistics)
    )


def draw_sample(table: DataFrame, facts: Facts, blocks: int) -> Sample:
    """A hash sample in key order; its size follows the number of blocks, never the rows."""
    share = max(SAMPLE_ROWS, SAMPLE_PER_BLOCK * blocks) / facts.rows
    numbers = [f"{q.number} as q{i}" for i, q in enumerate(facts.quasi)]
    drawn = table.filter(sampled(share)).selectExpr(KEY, *numbers).toArrow()
    drawn = drawn.sort_by([(name, "ascending") for name in drawn.column_names])
    columns, categories = [], {}
    for i, quasi in enumerate(facts.quasi):
        column, found = sample_column(
            quasi.name, quasi.scale, drawn.column(f"q{i}").combine_chunks()
        )
        columns.append(column)
        if found is not None:
            categories[quasi.name] = found
    return Sample(tuple(columns), categories, drawn.column(KEY).to_numpy())


def sample_column(name: str, scale: Scale, cells: pa.Array) -> tuple[Column, list[str] | None]:
    """A column of a sample, and the categories behind the codes of a nominal one."""
    null = np.asarray(cells.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    if scale is not Scale.NOMINAL:
        values = cells.fill_null(0.0).to_numpy(zero_copy_only=False)
        return Column(name, scale, values, null), None
    text = np.asarray(cells.fill_null("").to_numpy(zero_copy_only=False), dtype=object)
    names, codes = np.unique(text[~null].astype(str), return_inverse=True)
    values = np.zeros(len(null))
    values[~null] = codes
    return Column(name, scale, values, null), [str(category) for category in names]


def fillings(
    spark: SparkSession, sample: Sample, quasi: Sequence[Quasi]
) -> dict[str, SparkColumn]:
    """For `impute`: the sample's lower median, or its most frequent category.

    They come from a table of one row: a literal would stand in the plans that Spark shows.
    """
    known = [
        (q, q.cell_of(_middle(column, sample.categories.get(q.name))))
        for q, column in zip(quasi, sample.records, strict=True)
        if not column.null.all()
    ]
    row = spark.createDataFrame(
        pa.table({f"f{i}": cell for i, (_, cell) in enumerate(known)}),
        T.StructType(
            [
                T.StructField(f"f{i}", T.StringType() if q.scale is Scale.NOMINAL else q.spark)
                for i, (q, _) in enumerate(known)
            ]
        ),
    )
    return {
        q.name: row.select(F.col(f"f{i}").cast(q.spark)).scalar() for i, (q, _) in enumerate(known)
    }


def _middle(column: Column, categories: Sequence[str] | None) -> float | str:
    present: npt.NDArray[np.float64] = column.values[~column.null]
    if categories is not None:
        return categories[int(np.argmax(np.bincount(present.astype(np.int64))))]
    return float(np.sort(present)[(len(present) - 1) // 2])
