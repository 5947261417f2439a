"""Linkage inside one block: what runs on the executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sparkanon.engine.linkage.draws import draw
from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.pairs.tallies import records
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import KEY
from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Scale
from sparkanon.numeric.search.link import Linked, link, make, reaches
from sparkanon.spaces import FittedSpace

Batches = Iterator[pa.RecordBatch]
Longs = npt.NDArray[np.int64]

DECILES = 10
ROUNDING = 1e-9  # relative error of a distance whose parts are added in another order
ORIGINAL, RELEASED = 0, 1  # the sides that a record can stand on
# The rows that a round returns. In the first one: sums over all queries of a block, which have no
# id, and for each query that other blocks must search as well one row for each of these blocks.
# In the second one: a row for each query that found neighbours there.
_FIELDS = {
    "id": pa.int64(),
    "side": pa.int32(),
    "block": pa.int32(),
    "decile": pa.int32(),
    "weight": pa.int64(),  # records
    "squares": pa.float64(),  # squared weights
    "credit": pa.float64(),
    "times": pa.float64(),  # the share of the query's records that the sample holds
    "best": pa.float64(),
    "hits": pa.int64(),
    "ties": pa.int64(),
    "cls": pa.int64(),
}
_ANSWERS = {"near": pa.float64(), "more_hits": pa.int64(), "more_ties": pa.int64()}


@dataclass(frozen=True)
class Outlyingness:
    """How far out a record lies: the decile of its distance from the middle of the table.

    Only ordered columns count: categories have no middle, and every block has its own codes.
    """

    middle: Floats
    cuts: Floats

    def deciles(self, points: Points) -> Longs:
        return np.searchsorted(self.cuts, self.distance(points), side="right")

    def distance(self, points: Points) -> Floats:
        ordered = ~points.metric.codes
        middle = self.middle[ordered, np.newaxis]
        return rowwise(points.values[ordered], middle, points.metric.some(ordered))


def rowwise(one: Floats, other: Floats, metric: Metric) -> Floats:
    """Distances between points that stand at the same place of two (d, n) arrays."""
    gap = np.abs(one - other)
    if not metric.capped:
        return np.asarray((gap * gap).sum(axis=0))
    return np.asarray(np.minimum(gap, metric.caps[:, np.newaxis]).sum(axis=0))


def own_distances(
    points: Points, side: Longs, cls: Longs, weight: Longs
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Distance from each record of a block to the nearest of its own class on the other side.

    It is inf where the block holds none. A class has one released point, whose weight is the
    number of its originals. The second array says whether the whole class is in this block, so
    that no member of it elsewhere can be nearer.
    """
    own, here_all = np.full(points.n, np.inf), np.zeros(points.n, dtype=np.bool_)
    x, z = np.flatnonzero(side == ORIGINAL), np.flatnonzero(side == RELEASED)
    if len(x) == 0 or len(z) == 0:
        return own, here_all
    z = z[np.argsort(cls[z])]
    at = np.minimum(np.searchsorted(cls[z], cls[x]), len(z) - 1)
    here = cls[z[at]] == cls[x]
    x, theirs = x[here], z[at[here]]
    own[x] = rowwise(points.values[:, x], points.values[:, theirs], points.metric)
    np.minimum.at(own, theirs, own[x])
    here_all[x] = True
    here_all[z] = np.bincount(theirs, minlength=points.n)[z] == weight[z]
    return own, here_all


@dataclass(frozen=True)
class Search:
    """For `mapInArrow`: the first round, on partitions of whole blocks (usually one).

    A block holds both sides of the pair. Every record is a reference for the other side and, if
    the sample holds it, a query.
    """

    compared: tuple[Compared, ...]
    space: FittedSpace
    low: Floats  # (blocks, d) regions of the blocks, in coordinates
    high: Floats
    outlyingness: Outlyingness
    share: float  # of the records that are looked for

    @property
    def schema(self) -> pa.Schema:
        kinds = [pa.string() if c.scale is Scale.NOMINAL else pa.float64() for c in self.compared]
        return pa.schema(_FIELDS | {f"v{i}": kind for i, kind in enumerate(kinds)})

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, by="block"):
            yield from self._block(table, block)

    def _block(self, table: pa.Table, block: int) -> Batches:
        # By key, so that a query has the same number when its block is searched again.
        table = table.take(pa.array(np.argsort(table.column(KEY).to_numpy(), kind="stable")))
        key, side, cls, weight = numbers(table, KEY, "side", "cls", "weight")
        points = self._points(table)
        values, metric = arrays(points)
        own, here_all = own_distances(points, side, cls, weight)
        most = own * (1.0 + ROUNDING)  # what is further away than the own record does not count
        for asking in (ORIGINAL, RELEASED):
            mine, others = np.flatnonzero(side == asking), np.flatnonzero(side != asking)
            drawn, count = draw(key[mine], weight[mine], self.share)
            asks = mine[drawn]
            if len(asks) == 0:
                continue
            targets = make(values[:, others], metric, cls[others], weight[others])
            queries = np.ascontiguousarray(values[:, asks])
            found = link(targets, metric, queries, cls[asks], most[asks])
            at = Points(queries, metric)
            lost = here_all[asks] & (found.best < own[asks] * (1.0 - ROUNDING))
            chosen = table.take(pa.array(asks))
            yield from self._results(chosen, asking, count, found, at, lost, block)

    def _points(self, table: pa.Table) -> Points:
        (cells,) = records(self.compared, (table, "v"))
        return self.space.points(cells)

    def _results(
        self,
        chosen: pa.Table,
        side: int,
        count: Longs,
        found: Linked,
        points: Points,
        lost: npt.NDArray[np.bool_],
        block: int,
    ) -> Batches:
        """Sums over all queries, and rows for those that other blocks have to search as well.

        The sums take every query as settled; the second round corrects them. A query that found
        a record nearer than its own is lost, whatever other blocks hold, and is not sent.
        """
        queries, metric = arrays(points)
        open_ = np.flatnonzero(~lost)
        query, to = reaches(queries[:, open_], found.best[open_], self.low, self.high, metric)
        query, to = open_[query[to != block]], to[to != block]
        deciles, (weight,) = self.outlyingness.deciles(points), numbers(chosen, "weight")
        times = count / weight
        credit = times * (found.hits / np.maximum(found.ties, 1))
        yield batch(
            self.schema,
            DECILES,
            side=side,
            decile=np.arange(DECILES),
            weight=np.bincount(deciles, count, DECILES).astype(np.int64),
            squares=np.bincount(deciles, count * count, DECILES),
            credit=np.bincount(deciles, credit, DECILES),
        )
        if len(query):
            sent = chosen.take(pa.array(query))
            cells = {name: sent.column(name) for name in sent.column_names if name[0] == "v"}
            yield batch(
                self.schema,
                len(query),
                id=(block * 2 + side) * 2**32 + query,
                side=side,
                block=to,
                decile=deciles[query],
                times=times[query],
                best=found.best[query],
                hits=found.hits[query],
                ties=found.ties[query],
                cls=sent.column("cls"),
                **cells,
            )


class Elsewhere(Search):
    """The second round: queries that were sent from other blocks search this one.

    Each brings the distance of the best neighbour in its own block. Only queries that find one
    at least as near return a row, and hardly any do.
    """

    @property
    def schema(self) -> pa.Schema:
        fields = ("id", "side", "decile", "times", "best", "hits", "ties")
        return pa.schema({name: _FIELDS[name] for name in fields} | _ANSWERS)

    def _block(self, table: pa.Table, block: int) -> Batches:
        query = table.column("id").is_valid().to_numpy()
        side, cls = numbers(table, "side", "cls")
        values, metric = arrays(self._points(table))
        for asking in (ORIGINAL, RELEASED):
            asks = np.flatnonzero(query & (side == asking))
            others = np.flatnonzero(~query & (side != asking))
            if len(asks) == 0:
                continue
            (weight,) = numbers(table.take(pa.array(others)), "weight")
            targets = make(values[:, others], metric, cls[others], weight)
            chosen = table.take(pa.array(asks))
            (best,) = numbers(chosen, "best")
            found = link(targets, metric, values[:, asks], cls[asks], best)
            answers = np.flatnonzero(found.ties)
            chosen = chosen.take(pa.array(answers))
            yield batch(
                self.schema,
                len(answers),
                near=found.best[answers],
                more_hits=found.hits[answers],
                more_ties=found.ties[answers],
                **{field.name: chosen.column(field.name)
                   for field in self.schema if field.name in _FIELDS},
            )  # fmt: skip


def numbers(table: pa.Table, *names: str) -> list[npt.NDArray[Any]]:
    return [table.column(name).to_numpy() for name in names]


def batch(schema: pa.Schema, rows: int, **columns: Any) -> pa.RecordBatch:
    """A batch of this schema; a column that is not given is null, a single value is repeated."""
    made = []
    for field in schema:
        value = columns.get(field.name)
        if value is None:
            made.append(pa.nulls(rows, field.type))
        elif isinstance(value, pa.ChunkedArray):
            made.append(value.combine_chunks().cast(field.type))
        else:
            made.append(pa.array(np.broadcast_to(value, rows), field.type))
    return pa.RecordBatch.from_arrays(made, schema=schema)
