"""Distance-based record linkage of a pair, exactly, however large the tables are.

Both sides are cut into the same blocks by the block tree. A first round searches every block for
the neighbours of its own records; a ball that reaches the region of another block sends its
record there in a second round. Both directions share the rounds.

A released class is one point that stands for all its records. With originals as the reference,
the credit of a released point is (originals of its own class among the nearest) / (the nearest).
Summed up, this is the share of released records whose nearest original is their own; records at
the same distance share the credit. The other direction is the same with the roles exchanged.

This is enough if every released cell is a value. Where cells are suppressed or cover several
values, `compatible` searches once more with boxes instead of points. The search that links more
records counts, because an attacker is free to read a null as a value of its own and a range as
its middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.attacks.needs import Links, Share
from sparkanon.blocks import Leaf, Sample, Tree, fit_tree
from sparkanon.blocks.tree import regions
from sparkanon.engine.cut.assign import with_blocks
from sparkanon.engine.fit.facts import sample_column
from sparkanon.engine.linkage.compatible import Matched, compatible, summed
from sparkanon.engine.linkage.covers import Reading, Way
from sparkanon.engine.linkage.search import (
    DECILES,
    ORIGINAL,
    RELEASED,
    Elsewhere,
    Outlyingness,
    Search,
)
from sparkanon.engine.linkage.tuples import shares_of_tuples
from sparkanon.engine.linkage.withheld import Withheld, Words, look
from sparkanon.engine.pairs.pairs import Compared, Sides
from sparkanon.engine.pairs.sampling import sample
from sparkanon.engine.pairs.tallies import sides_of
from sparkanon.engine.session.session import batches_by_rows, many_classes
from sparkanon.engine.session.warm import warm_boxes, warm_linkage
from sparkanon.engine.sql.names import KEY
from sparkanon.engine.sql.rows import hash_of
from sparkanon.measures.wilson import effective_draws, wilson
from sparkanon.needs import Known, Unanswerable
from sparkanon.numeric.records import Column, Floats, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.spaces import FittedSpace, Space
from sparkanon.spaces.needs import Moments

BLOCK_ROWS = 200_000  # larger ones than for masking: fewer balls reach another block
_NO_CLASS = "xxhash64('unpublished')"


@dataclass(frozen=True)
class _Table:
    """What is known about the whole table before records are looked for."""

    rows: int
    share: float  # the share of records that the sample holds as queries
    space: FittedSpace
    tree: Tree
    outlyingness: Outlyingness


def linkage(
    sides: Sides,
    pair: DataFrame,
    statistics: tuple[ColumnStatistics, ...],
    space: Space,
    targets: int | None = None,
    block_rows: int = BLOCK_ROWS,
    words: Words | None = None,
) -> Links | Unanswerable:
    """Link the whole pair; `targets` samples the records that are looked for, never the others.

    `words` are those of taxonomies, which stand for all values below them.
    """
    with _read_once(sides, pair) as (read, cells):
        withheld = look(read, cells, words or {}, statistics)
        if withheld.reason is not None:
            return Unanswerable(withheld.reason)
        table = _about(read, statistics, space, targets, block_rows)
        found = [_by_points(read, cells, table, withheld)]
        for way in withheld.ways:
            reading = _reading(read.compared, table.space, withheld, way, words or {})
            found.append(_by_boxes(read, cells, table, reading))
    links = _worst([_finished(sums, table.rows, table.share) for sums in found])
    return replace(links, tuples=shares_of_tuples(sides, pair))


@contextmanager
def _read_once(sides: Sides, pair: DataFrame) -> Iterator[tuple[Sides, DataFrame]]:
    """Read cells as numbers, and what they cover. If that takes long, it is cached."""
    if not any(c.covers for c in sides.compared):
        yield sides, pair
        return
    x = [f"{c.x} as x{i}" for i, c in enumerate(sides.compared)]
    z = [f"{c.z} as z{i}" for i, c in enumerate(sides.compared)]
    covers = [f"{c.covers} as c{i}" for i, c in enumerate(sides.compared) if c.covers]
    compared = tuple(
        replace(c, x=f"x{i}", z=f"z{i}", covers=c.covers and f"c{i}")
        for i, c in enumerate(sides.compared)
    )
    alone = sides.unpublished
    read = pair.selectExpr(*x, *z, *covers).persist()
    try:
        yield (
            replace(
                sides,
                original=sides.original.selectExpr(*x),
                unpublished=None if alone is None else alone.selectExpr(*x),
                compared=compared,
            ),
            read,
        )
    finally:
        read.unpersist()


def _about(
    sides: Sides,
    statistics: tuple[ColumnStatistics, ...],
    space: Space,
    targets: int | None,
    block_rows: int,
) -> _Table:
    compared, rows = sides.compared, statistics[0].n
    share = 1.0 if targets is None else min(targets / rows, 1.0)
    drawn = sample(sides.original, [c.x for c in compared], rows)
    fitted = space.fit(Known({Moments(): statistics}))
    records = tuple(
        sample_column(c.name, c.scale, drawn.column(f"c{i}").combine_chunks())
        for i, c in enumerate(compared)
    )
    tree = _tree(compared, records, fitted, rows, block_rows)
    columns = tuple(column for column, _ in records)
    return _Table(rows, share, fitted, tree, _outlyingness(columns, fitted))


def _by_points(
    sides: Sides, pair: DataFrame, table: _Table, withheld: Withheld
) -> list[dict[str, Any]]:
    """Sums by side and decile, with every released cell taken for a value."""
    warm_linkage()
    compared, tree = sides.compared, table.tree
    low, high = _boxes(tree, compared, table.space, withheld.original_nulls)
    search = Search(compared, table.space, low, high, table.outlyingness, table.share)
    placed = _placed(_everyone(pair, sides.unpublished, compared), tree, compared)
    return _linked(placed, tree, search)


def _by_boxes(
    sides: Sides, pair: DataFrame, table: _Table, reading: Reading
) -> list[dict[str, Any]]:
    """Sums by side and decile, with suppressed and generalized cells as boxes."""
    warm_boxes()
    compared, unpublished = sides.compared, sides.unpublished
    originals = [f"{c.x} as v{i}" for i, c in enumerate(compared)]
    both = [*originals, *_released_cells(compared)]
    cells = [f"z{i}" for i in range(len(compared))]
    cells += [f"w{i}" for i, c in enumerate(compared) if _has_spans(c)]
    together = pair.selectExpr(*both).selectExpr("*", f"{_class_of(cells)} as cls")
    if unpublished is not None:
        unpublished = unpublished.selectExpr(*originals, f"{_NO_CLASS} as cls")
    placing = partial(_placed, tree=table.tree, compared=compared)
    matched = Matched(reading, table.space, table.outlyingness, table.share)
    return compatible(together, unpublished, matched, table.tree.blocks, placing)


def _has_spans(c: Compared) -> bool:
    return c.covers is not None and c.scale is not Scale.NOMINAL


def _released_cells(compared: Sequence[Compared]) -> list[str]:
    """Values or words as z0, z1, ..., and beside them, as w0, ..., what a cell covers."""
    found = []
    for i, c in enumerate(compared):
        words = c.covers if c.scale is Scale.NOMINAL else None
        found.append(f"{words or c.z} as z{i}")
        found += [f"{c.covers} as w{i}"] * _has_spans(c)
    return found


def _reading(
    compared: tuple[Compared, ...],
    space: FittedSpace,
    withheld: Withheld,
    way: Way,
    words: Words,
) -> Reading:
    rulers = tuple(space.ruler(c.name, c.scale) for c in compared)
    return Reading(compared, rulers, withheld.original_nulls, way, words)


def _worst(found: Sequence[Links]) -> Links:
    """In each direction the result of the way of reading that links most."""

    def most(shares: Sequence[Share | None]) -> Share:
        known = [share for share in shares if share is not None]
        ends = (
            [end for end in (getattr(share, name) for share in known) if end is not None]
            for name in ("value", "low", "high")
        )
        return Share(*(max(values, default=None) for values in ends))

    def linked_back(one: Links) -> float:
        return (one.to_released and one.to_released.value) or 0.0

    return Links(
        most([one.to_original for one in found]),
        most([one.to_released for one in found]),
        by_decile=max(found, key=linked_back).by_decile,
    )


def _placed(table: DataFrame, tree: Tree, compared: Sequence[Compared]) -> DataFrame:
    """The table with the block of every row, which follows from v0, v1, ... and its key."""
    names = {c.name: f"v{i}" for i, c in enumerate(compared)}
    nominal = {c.name for c in compared if c.scale is Scale.NOMINAL}
    return with_blocks(table, {"block": tree}, names, nominal)


def _class_of(cells: Sequence[str]) -> str:
    """The class of a row in SQL: a hash of its released cells."""
    return hash_of(cells)


def _key(compared: Sequence[Compared]) -> str:
    return f"{hash_of((f'v{i}' for i in range(len(compared))), 'cls')} as {KEY}"


def _everyone(
    pair: DataFrame, unpublished: DataFrame | None, compared: Sequence[Compared]
) -> DataFrame:
    """Originals one by one and released points once with their size, as v0, v1, ...

    `cls` says which originals belong to which released point. A suppressed original belongs to
    none: it can be mistaken for others, and is never found itself.
    """
    places = range(len(compared))
    both = pair.selectExpr(*sides_of(compared))
    both = both.selectExpr("*", f"{_class_of([f'z{i}' for i in places])} as cls")
    here = [f"v{i}" for i in places]

    def side(table: DataFrame, which: int) -> DataFrame:
        keyed = table.selectExpr("*", _key(compared))
        return keyed.selectExpr(*here, KEY, "cls", "weight", f"{which} as side")

    x = both.selectExpr(*(f"x{i} as v{i}" for i in places), "cls", "1L as weight")
    if unpublished is not None:
        cells = [f"{c.x} as v{i}" for i, c in enumerate(compared)]
        x = x.unionByName(unpublished.selectExpr(*cells, f"{_NO_CLASS} as cls", "1L as weight"))
    z = both.selectExpr(*(f"z{i} as v{i}" for i in places), "cls")
    z = z.groupBy(*here, "cls").agg(F.expr("count(1) as weight"))
    return side(x, ORIGINAL).unionByName(side(z, RELEASED))


def _linked(placed: DataFrame, tree: Tree, search: Search) -> list[dict[str, Any]]:
    """Sums of weight, squares and credit by side and decile, after one round or two."""
    spark = placed.sparkSession
    with batches_by_rows(spark), many_classes(spark):
        if tree.blocks == 1:
            return summed(_round(placed, search, 1))
        # A hash cannot be compressed, so it is cheaper to compute it again than to store it.
        placed, key = placed.drop(KEY).persist(), _key(search.compared)
        first = _round(placed, search, tree.blocks, key).persist()
        try:
            sums = ["side", "decile", "weight", "squares", "credit"]
            queries = first.filter("id is not null").drop("weight", "squares", "credit")
            everyone = placed.unionByName(queries, allowMissingColumns=True)
            elsewhere = Elsewhere(**vars(search))
            answers = _corrections(_round(everyone, elsewhere, tree.blocks))
            return summed(first.filter("id is null").select(sums).unionByName(answers))
        finally:
            first.unpersist()
            placed.unpersist()


_SPARK = {"int64": "long", "int32": "int", "double": "double", "string": "string"}


def _round(table: DataFrame, search: Search, blocks: int, *more: str) -> DataFrame:
    fields = ", ".join(f"{field.name} {_SPARK[str(field.type)]}" for field in search.schema)
    return table.repartitionById(blocks, "block").selectExpr("*", *more).mapInArrow(search, fields)


def _corrections(answers: DataFrame) -> DataFrame:
    """How the neighbours in other blocks change the credit of a query: only the nearest count."""
    query = ["id", "side", "decile", "times", "best", "hits", "ties"]
    sums = "sum(more_hits) as more_hits", "sum(more_ties) as more_ties"
    at_distances = answers.groupBy(*query, "near").agg(*map(F.expr, sums))
    nearest = at_distances.groupBy(*query).agg(
        F.expr("min(near) as near"),
        F.expr("min_by(more_hits, near) as more_hits"),
        F.expr("min_by(more_ties, near) as more_ties"),
    )
    also = "if(near = best, {0}, 0L)"
    now = f"(more_hits + {also.format('hits')}) / (more_ties + {also.format('ties')})"
    credit = f"times * ({now} - hits / greatest(ties, 1L)) as credit"
    return nearest.selectExpr("side", "decile", "0L as weight", "0d as squares", credit)


def _finished(sums: list[dict[str, Any]], rows: int, share: float) -> Links:
    shares = []
    for side in (RELEASED, ORIGINAL):
        mine = [row for row in sums if row["side"] == side]
        weight, credit, squares = (
            sum(row[name] for row in mine) for name in ("weight", "credit", "squares")
        )
        value = min(credit / weight, 1.0) if weight else None
        draws = effective_draws(weight, squares)
        interval = wilson((value or 0.0) * draws, draws) if share < 1 else None
        ends = (interval.low, interval.high) if interval else (None, None)
        shares.append(Share(value, *ends))
    deciles = sorted(
        (row for row in sums if row["side"] == ORIGINAL),
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
    to_original, to_released = shares
    return Links(to_original, to_released, by_decile=parts)


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


def _boxes(
    tree: Tree, compared: Sequence[Compared], space: FittedSpace, with_nulls: frozenset[str]
) -> tuple[Floats, Floats]:
    """Regions of the blocks in coordinates, (blocks, d) each, widened for the place of nulls."""
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
