"""Distance-based record linkage of a pair, exactly, however large the tables are.

Both sides are cut into the same blocks by the block tree. A first round searches every block for
the neighbours of its own records; a ball that reaches the region of another block sends its
record there in a second round. Both directions share the rounds.

A released class is one point that stands for all its records. With originals as the reference,
the credit of a released point is (originals of its own class among the nearest) / (the nearest):
summed up, the share of released records whose nearest original is their own, ties sharing the
credit. The other direction is the same with the roles exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.blocks import Leaf, Sample, Tree, fit_tree
from sparkanon.blocks.tree import regions
from sparkanon.engine.assign import block_of
from sparkanon.engine.audit.pairs import Compared, Sides
from sparkanon.engine.audit.sampling import sample
from sparkanon.engine.audit.search import (
    DECILES,
    ORIGINAL,
    RELEASED,
    Elsewhere,
    Outlyingness,
    Search,
)
from sparkanon.engine.audit.tallies import sides_of
from sparkanon.engine.fit import sample_column
from sparkanon.engine.names import KEY
from sparkanon.engine.session import batches_by_rows, many_classes
from sparkanon.engine.warm import warm_linkage
from sparkanon.measures import Measure
from sparkanon.measures.wilson import wilson
from sparkanon.numeric.records import Column, Floats, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces import FittedSpace, Space

BLOCK_ROWS = 200_000  # larger ones than for masking: fewer balls reach another block
_NO_CLASS = "xxhash64('unpublished')"
_NAMES = {RELEASED: "linkage_masked_to_original", ORIGINAL: "linkage_original_to_masked"}


@dataclass(frozen=True)
class Linkage:
    """Share of records linked, in both directions, and by how far out a record lies."""

    measures: list[Measure]
    outlyingness: list[dict[str, Any]]


def linkage(
    sides: Sides,
    pair: DataFrame,
    statistics: tuple[ColumnStatistics, ...],
    space: Space,
    targets: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Linkage:
    """Link the whole pair; `targets` samples the records that are looked for, never the others."""
    warm_linkage()
    compared, rows = sides.compared, statistics[0].n
    share = 1.0 if targets is None else min(targets / rows, 1.0)
    drawn = sample(sides.original, [c.x for c in compared], rows)
    fitted = space.fit(statistics)
    records = tuple(
        sample_column(c.name, c.scale, drawn.column(f"c{i}").combine_chunks())
        for i, c in enumerate(compared)
    )
    tree = _tree(compared, records, fitted, rows, block_rows)
    low, high = _boxes(tree, compared, fitted, _null_columns(sides, pair))
    columns = tuple(column for column, _ in records)
    search = Search(compared, fitted, low, high, _outlyingness(columns, fitted))
    everyone = _everyone(pair, sides.unpublished, compared, share)
    names = {c.name: f"v{i}" for i, c in enumerate(compared)}
    nominal = {c.name for c in compared if c.scale is Scale.NOMINAL}
    block = block_of(pair.sparkSession, tree, names, nominal)
    placed = everyone.select("*", block.alias("block"))
    return _finished(_linked(placed, tree, search), rows, share)


def _everyone(
    pair: DataFrame, unpublished: DataFrame | None, compared: Sequence[Compared], share: float
) -> DataFrame:
    """Originals one by one and released points once with their size, as v0, v1, ...

    `cls` tells which originals belong to which released point. An unpublished one belongs to
    none: it can be mistaken for others, and never be found.
    """
    places = range(len(compared))
    released = ", ".join(f"z{i}, z{i} is null" for i in places)
    both = pair.selectExpr(*sides_of(compared))
    both = both.selectExpr("*", f"xxhash64({released}) as cls")
    here = [f"v{i}" for i in places]
    key = f"xxhash64({', '.join(f'{v}, {v} is null' for v in here)}, cls) as {KEY}"
    limit = int(-(2**63) + share * 2**64)
    asks = "true as query" if share >= 1 else f"{KEY} < {limit} as query"

    def side(table: DataFrame, which: int) -> DataFrame:
        keyed = table.selectExpr("*", key)
        return keyed.selectExpr(*here, KEY, "cls", "weight", f"{which} as side", asks)

    x = both.selectExpr(*(f"x{i} as v{i}" for i in places), "cls", "1L as weight")
    if unpublished is not None:
        cells = [f"{c.x} as v{i}" for i, c in enumerate(compared)]
        x = x.unionByName(unpublished.selectExpr(*cells, f"{_NO_CLASS} as cls", "1L as weight"))
    z = both.selectExpr(*(f"z{i} as v{i}" for i in places), "cls")
    z = z.groupBy(*here, "cls").agg(F.expr("count(1) as weight"))
    return side(x, ORIGINAL).unionByName(side(z, RELEASED))


def _linked(placed: DataFrame, tree: Tree, search: Search) -> list[dict[str, Any]]:
    """(side, decile, weight, credit): sums over all queries, after one round or two."""
    spark = placed.sparkSession
    with batches_by_rows(spark), many_classes(spark):
        if tree.blocks == 1:
            return _collected(_round(placed, search, 1))
        placed = placed.persist()
        first = _round(placed, search, tree.blocks).persist()
        try:
            sums = ["side", "decile", "weight", "credit"]
            queries = first.filter("id is not null").drop("weight", "credit")
            everyone = placed.drop(KEY, "query").unionByName(queries, allowMissingColumns=True)
            elsewhere = Elsewhere(**vars(search))
            answers = _corrections(_round(everyone, elsewhere, tree.blocks))
            return _collected(first.filter("id is null").select(sums).unionByName(answers))
        finally:
            first.unpersist()
            placed.unpersist()


_SPARK = {"int64": "long", "int32": "int", "double": "double", "string": "string"}


def _round(table: DataFrame, search: Search, blocks: int) -> DataFrame:
    told = ", ".join(f"{field.name} {_SPARK[str(field.type)]}" for field in search.schema)
    return table.repartitionById(blocks, "block").mapInArrow(search, told)


def _collected(credits: DataFrame) -> list[dict[str, Any]]:
    """Two sides of ten deciles."""
    sums = "sum(weight) as weight", "sum(credit) as credit"
    found = credits.groupBy("side", "decile").agg(*map(F.expr, sums))
    return [row.asDict() for row in found.filter("weight > 0").collect()]


def _corrections(answers: DataFrame) -> DataFrame:
    """What other blocks change in the credit of a query: the least distance of all counts."""
    query = ["id", "side", "decile", "best", "hits", "ties"]
    sums = "sum(more_hits) as more_hits", "sum(more_ties) as more_ties"
    at_distances = answers.groupBy(*query, "near").agg(*map(F.expr, sums))
    nearest = at_distances.groupBy(*query).agg(
        F.expr("min(near) as near"),
        F.expr("min_by(more_hits, near) as more_hits"),
        F.expr("min_by(more_ties, near) as more_ties"),
    )
    also = "if(near = best, {0}, 0L)"
    now = f"(more_hits + {also.format('hits')}) / (more_ties + {also.format('ties')})"
    credit = f"{now} - hits / greatest(ties, 1L) as credit"
    return nearest.selectExpr("side", "decile", "0L as weight", credit)


def _finished(told: list[dict[str, Any]], rows: int, share: float) -> Linkage:
    measures = []
    for side, name in _NAMES.items():
        weight = sum(row["weight"] for row in told if row["side"] == side)
        credit = sum(row["credit"] for row in told if row["side"] == side)
        value = credit / weight if weight else None
        interval = wilson(min(credit, weight), weight) if share < 1 else None
        ends = (interval.low, interval.high) if interval else (None, None)
        measures.append(Measure(name, value, None, *ends))
    deciles = sorted(
        (row for row in told if row["side"] == ORIGINAL),
        key=lambda row: row["decile"],
    )
    parts = [
        {
            "decile": row["decile"] + 1,
            "records": row["weight"],
            "linkage": row["credit"] / row["weight"],
            "baseline": 1.0 / rows,
        }
        for row in deciles
    ]
    return Linkage(measures, parts)


def _tree(
    compared: Sequence[Compared],
    records: Sequence[tuple[Column, list[str] | None]],
    space: FittedSpace,
    rows: int,
    block_rows: int,
) -> Tree:
    if rows <= block_rows:
        return Tree(Leaf())
    named = {c.name: found for c, (_, found) in zip(compared, records, strict=True) if found}
    columns = tuple(column for column, _ in records)
    keys = np.arange(len(columns[0].null), dtype=np.int64)
    return fit_tree(Sample(columns, named, keys), space.units, rows, block_rows, 1)


def _outlyingness(columns: tuple[Column, ...], space: FittedSpace) -> Outlyingness:
    points = space.points(columns)
    middle = Outlyingness(np.median(points.values, axis=1), np.empty(0))
    cuts = np.quantile(middle.distance(points), np.arange(1, DECILES) / DECILES)
    return replace(middle, cuts=cuts)


def _null_columns(sides: Sides, pair: DataFrame) -> set[str]:
    """Counted on the pair: the statistics know of no nulls that the policy fills."""
    found = set()
    for table, letters in ((pair, "xz"), (sides.unpublished, "x")):
        if table is None:
            continue
        null = [" or ".join(f"{getattr(c, at)} is null" for at in letters) for c in sides.compared]
        (row,) = table.selectExpr(
            *(f"bool_or({sql}) as n{i}" for i, sql in enumerate(null))
        ).collect()
        found |= {c.name for i, c in enumerate(sides.compared) if row[f"n{i}"]}
    return found


def _boxes(
    tree: Tree, compared: Sequence[Compared], space: FittedSpace, with_nulls: set[str]
) -> tuple[Floats, Floats]:
    """Regions of the blocks in coordinates, (blocks, d) each; nulls stand somewhere else."""
    found = regions(tree)
    ends = [
        tuple(
            Column(
                c.name,
                c.scale,
                np.array([region.get(c.name, (-np.inf, np.inf))[end] for region in found]),
                np.zeros(len(found), dtype=np.bool_),
            )
            for c in compared
        )
        for end in (0, 1)
    ]
    nulls = tuple(replace(column, null=column.null | (column.name in with_nulls),
                          values=np.where(column.name in with_nulls, 0.0, column.values))
                  for column in ends[0])  # fmt: skip
    with np.errstate(invalid="ignore"):
        low, high, null = (space.points(records).values for records in (*ends, nulls))
    low, high = (np.where(np.isnan(e), s, e) for e, s in ((low, -np.inf), (high, np.inf)))
    null = np.where(np.isnan(null), low, null)
    return np.minimum(low, null).T, np.maximum(high, null).T
