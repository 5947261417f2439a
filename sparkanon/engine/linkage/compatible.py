"""Linkage of a release that hides cells: nulls, stars, ranges and sets cover many originals.

An original is at distance 0 from a cell that covers it. Originals stay in the blocks of the block
tree, and a released record, now a box, is sent to every block where it or an original may find a
nearest neighbour. Every record knows the distance to its own counterpart, so one round is enough:
it asks whether anybody is nearer, and how many are as near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.linkage.covers import Reading
from sparkanon.engine.linkage.draws import draw
from sparkanon.engine.linkage.search import (
    DECILES,
    ORIGINAL,
    RELEASED,
    Outlyingness,
    batch,
    numbers,
)
from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.pairs.tallies import records
from sparkanon.engine.session.session import batches_by_rows, many_classes
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import KEY
from sparkanon.engine.sql.rows import hash_of
from sparkanon.numeric.records import Floats, Scale
from sparkanon.numeric.search.boxes import ROUNDING, paired, touched
from sparkanon.numeric.search.shelves import near
from sparkanon.spaces import FittedSpace

Batches = Iterator[pa.RecordBatch]
Placing = Callable[[DataFrame], DataFrame]  # adds the block of an original: v0, ... and its key

_OWN = "own"  # distance from an original to its own released record; null if it has none
# The rows that a block returns: sums over its records, which have no id, and one row with an id
# for each released box that was sent to other blocks as well.
_FIELDS = {
    "id": pa.int64(),
    "side": pa.int32(),
    "decile": pa.int32(),
    "weight": pa.int64(),
    "squares": pa.float64(),
    "credit": pa.float64(),
    "hits": pa.float64(),
    "ties": pa.int64(),
    "lost": pa.bool_(),
}
_SCHEMA = (
    "id long, side int, decile int, weight long, squares double, credit double, hits double, "
    "ties long, lost boolean"
)


@dataclass(frozen=True)
class Measured:
    """For `mapInArrow`: adds to each pair the distance between original and release."""

    reading: Reading

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for cells in batches:
            table = pa.Table.from_batches([cells])
            categories = self.reading.categories(table, "v")
            x = self.reading.originals(table, "v", categories)
            z = self.reading.released(table, "z", categories)
            apart = pa.array(paired(z, x, self.reading.yard))
            yield pa.RecordBatch.from_arrays([*cells.columns, apart], [*cells.schema.names, _OWN])


@dataclass(frozen=True)
class Sent:
    """For `mapInArrow`: returns each released box once for every block that it has to go to.

    Those are the blocks where some original may be as near to the box as the box's own original,
    or where the box may be as near to some original as that original's own box.
    """

    reading: Reading
    blocks: Sequence[int]
    low: Floats  # (d, blocks) hulls of the originals
    high: Floats
    most: Floats  # (blocks,) largest distance of an original to its own

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for cells in batches:
            table = pa.Table.from_batches([cells])
            boxes = self.reading.released(table, "v", None)
            own = np.require(table.column(_OWN).to_numpy(), np.float64, ["C", "W"])
            reached = touched(boxes, own, self.low, self.high, self.most, self.reading.yard)
            row, to = np.nonzero(reached)
            sent = cells.take(pa.array(row))
            yield pa.RecordBatch.from_arrays(
                [
                    *sent.columns,
                    pa.array(np.asarray(self.blocks)[to], pa.int32()),
                    pa.array(reached.sum(axis=1)[row], pa.int32()),
                ],
                [*sent.schema.names, "block", "copies"],
            )


@dataclass(frozen=True)
class Matched:
    """For `mapInArrow`: matches the originals of whole blocks with the boxes sent there."""

    reading: Reading
    space: FittedSpace
    outlyingness: Outlyingness
    share: float

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for _, table in whole_blocks(batches, by="block"):
            yield from self._block(table)

    def _block(self, table: pa.Table) -> Batches:
        table = table.take(pa.array(np.argsort(table.column(KEY).to_numpy(), kind="stable")))
        side = table.column("side").to_numpy()
        x, z = (table.filter(pa.array(side == which)) for which in (ORIGINAL, RELEASED))
        categories = self.reading.categories(x, "v")
        originals = self.reading.originals(x, "v", categories)
        released = self.reading.released(z, "v", categories)
        weights = {ORIGINAL: numbers(z, "weight")[0], RELEASED: numbers(x, "weight")[0]}
        for which, asking in ((ORIGINAL, x), (RELEASED, z)):
            key, weight = numbers(asking, KEY, "weight")
            own = asking.column(_OWN).to_numpy(zero_copy_only=False).astype(np.float64)
            drawn, count = draw(key, weight, self.share)
            asks = drawn[~np.isnan(own[drawn])]
            boxes = released, originals, self.reading.yard
            found = near(*boxes, which == ORIGINAL, weights[which], asks, own)
            hits, lost = np.zeros(len(own)), np.ones(len(own), np.bool_)
            ties = np.zeros(len(own), np.int64)
            lost[asks], ties[asks] = found.lost, found.ties
            # Hits in the sample: own counterparts, scaled by the share of records that was drawn.
            hits[drawn] = numbers(asking, "hits")[0][drawn] * count / weight[drawn]
            rows = asking.take(pa.array(drawn))
            yield from self._results(rows, which, count, hits[drawn], ties[drawn], lost[drawn])

    def _results(
        self, rows: pa.Table, side: int, count: Any, hits: Floats, ties: Any, lost: Any
    ) -> Batches:
        schema = pa.schema(_FIELDS)
        deciles = np.zeros(len(count), np.int64)
        settled = np.ones(len(count), np.bool_)
        if side == ORIGINAL:
            (cells,) = records(self.reading.compared, (rows, "v"))
            deciles = self.outlyingness.deciles(self.space.points(cells))
        else:
            settled = numbers(rows, "copies")[0] == 1
        if (settled & ~lost & (ties == 0)).any():
            raise ArithmeticError  # a record must at least find its own counterpart
        credit = np.where(lost, 0.0, hits / np.maximum(ties, 1))
        yield batch(
            schema,
            DECILES,
            side=side,
            decile=np.arange(DECILES),
            weight=np.bincount(deciles[settled], count[settled], DECILES).astype(np.int64),
            squares=np.bincount(deciles[settled], count[settled] ** 2.0, DECILES),
            credit=np.bincount(deciles[settled], credit[settled], DECILES),
        )
        if not settled.all():
            yield batch(
                schema,
                int((~settled).sum()),
                id=rows.column("cls").filter(pa.array(~settled)),
                side=side,
                decile=0,
                weight=count[~settled],
                hits=hits[~settled],
                ties=ties[~settled],
                lost=lost[~settled],
            )


def compatible(
    pair: DataFrame,
    unpublished: DataFrame | None,
    matched: Matched,
    blocks: int,
    placing: Placing,
) -> list[dict[str, Any]]:
    """Sums of weight, squares and credit by side and decile.

    `pair` has v0, ... for originals, z0, ... and w0, ... for what is released, and `cls`;
    `unpublished` has v0, ... and `cls`.
    """
    reading = matched.reading
    apart = T.StructType([*pair.schema.fields, T.StructField(_OWN, T.DoubleType())])
    with batches_by_rows(pair.sparkSession), many_classes(pair.sparkSession):
        measured = pair.mapInArrow(Measured(reading), apart).persist()
        try:
            originals = placing(_originals(measured, unpublished, len(reading.compared)))
            released = _released(measured, reading.compared)
            sent = _sent(released, originals, reading, blocks)
            everyone = originals.unionByName(sent, allowMissingColumns=True)
            results = everyone.repartitionById(blocks, "block").mapInArrow(matched, _SCHEMA)
            return summed(_settled(results))
        finally:
            measured.unpersist()


def summed(credits: DataFrame) -> list[dict[str, Any]]:
    """At most twenty rows: ten deciles on each of the two sides."""
    sums = (F.expr(f"sum({name}) as {name}") for name in ("weight", "squares", "credit"))
    found = credits.groupBy("side", "decile").agg(*sums)
    return [row.asDict() for row in found.filter("weight > 0").collect()]


def _originals(measured: DataFrame, unpublished: DataFrame | None, columns: int) -> DataFrame:
    here = [f"v{i}" for i in range(columns)]
    x = measured.select(*here, "cls", _OWN)
    if unpublished is not None:
        x = x.unionByName(unpublished.selectExpr(*here, "cls", f"double(null) as {_OWN}"))
    key = f"{hash_of(here, 'cls')} as {KEY}"
    return x.selectExpr("*", key, "1L as weight", "1L as hits", f"{ORIGINAL} as side")


def _released(measured: DataFrame, compared: Sequence[Compared]) -> DataFrame:
    """Every released combination once; `hits` counts the nearest among its own originals."""
    cells = [f"z{i}" for i in range(len(compared))]
    cells += [name for name in measured.columns if name[0] == "w"]
    each = measured.groupBy(*cells, "cls", _OWN).agg(F.expr("count(1) as n"))
    least = f"min({_OWN}) over (partition by {', '.join([*cells, 'cls'])}) as least"
    each = each.selectExpr("*", least)
    near = f"sum(if({_OWN} <= least * {1.0 + ROUNDING!r}d, n, 0L)) as hits"
    sums = "sum(n) as weight", near, f"min({_OWN}) as {_OWN}"
    boxes = each.groupBy(*cells, "cls").agg(*map(F.expr, sums))
    named = [f"{name} as {name.replace('z', 'v')}" for name in cells]
    rest = "cls", "weight", "hits", _OWN, f"cls as {KEY}", f"{RELEASED} as side"
    return boxes.selectExpr(*named, *rest)


def _sent(released: DataFrame, originals: DataFrame, reading: Reading, blocks: int) -> DataFrame:
    if blocks == 1:
        return released.selectExpr("*", "0 as block", "1 as copies")
    asked = [f"max({_OWN}) as most"]
    for i, c in enumerate(reading.compared):
        asked += [f"bool_or(v{i} is null) as null{i}", f"count(v{i}) as filled{i}"]
        if c.scale is not Scale.NOMINAL:
            asked += [f"min(v{i}) as low{i}", f"max(v{i}) as high{i}"]
    rows = originals.groupBy("block").agg(*map(F.expr, asked)).collect()  # one for each block
    low, high = zip(*(_hull(reading, row.asDict()) for row in rows), strict=True)
    most = [-1.0 if row["most"] is None else row["most"] for row in rows]
    sending = Sent(
        reading,
        [row["block"] for row in rows],
        np.ascontiguousarray(np.transpose(low)),
        np.ascontiguousarray(np.transpose(high)),
        np.array(most),
    )
    more = [T.StructField(name, T.IntegerType()) for name in ("block", "copies")]
    return released.mapInArrow(sending, T.StructType([*released.schema.fields, *more]))


def _hull(reading: Reading, row: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Around the originals of a block, nulls included, in the coordinates of `reading`."""
    hull: tuple[list[float], list[float]] = [], []
    for i, (c, ruler) in enumerate(zip(reading.compared, reading.rulers, strict=True)):
        far = (-np.inf, np.inf)
        if c.scale is Scale.NOMINAL:
            values = [far]
        else:
            values = [(row[f"low{i}"], row[f"high{i}"])] if row[f"filled{i}"] else []
            at = far if ruler.null_at is None else (ruler.null_at, ruler.null_at)
            values += [at] if row[f"null{i}"] else []
        marks = [(0.0, 0.0)] * (row[f"filled{i}"] > 0) + [(1.0, 1.0)] * row[f"null{i}"]
        for parts in (values, marks) if c.name in reading.marked else (values,):
            hull[0].append(min(low for low, _ in parts))
            hull[1].append(max(high for _, high in parts))
    return hull


def _settled(results: DataFrame) -> DataFrame:
    """The credit of every row; what several blocks found for one box is added up first."""
    sums = "sum(squares) as squares", "sum(credit) as credit", "sum(ties) as ties"
    each = results.groupBy("id", "side", "decile").agg(
        *map(F.expr, sums),
        F.expr("if(id is null, sum(weight), max(weight)) as weight"),
        F.expr("max(hits) as hits"),
        F.expr("bool_or(lost) as lost"),
    )
    found = "if(ties > 0, hits / ties, raise_error('a record did not find its own'))"
    return each.selectExpr(
        "side",
        "decile",
        "weight",
        "coalesce(squares, double(weight) * weight) as squares",
        f"case when id is null then credit when lost then 0d else {found} end as credit",
    )
