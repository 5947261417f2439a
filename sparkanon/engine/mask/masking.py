"""One block at a time: Arrow in, kernels, a file out. This is what runs on the executors."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sparkanon.engine.mask.spans import span_cells
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import BLOCK, GROUP, KEY, NEXT, RULED, START
from sparkanon.engine.table.columns import Quasi
from sparkanon.engine.verify.constraints import Constraints
from sparkanon.groupings import Crossing, Grouping
from sparkanon.measures import loss
from sparkanon.numeric.group.merge import merged
from sparkanon.numeric.guard import Guard
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Floats, Labels, Records, prints
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.releases import FittedRelease, Generalized, Grouped, NewValues, Replaced
from sparkanon.rng import generator
from sparkanon.spaces import FittedSpace

Batches = Iterator[pa.RecordBatch]
Order = npt.NDArray[np.int64]
_OWN = (KEY, BLOCK, NEXT, START)  # columns of the engine that are not written


@dataclass(frozen=True)
class BlockFacts:
    """What a block reports to the driver; the size of it does not depend on the rows."""

    block: int
    rows: int
    file: str = ""  # the masked rows; empty if the block has to be merged with its sibling
    pair: str = ""  # the same rows beside their originals, if they are to be compared
    errors: tuple[float, ...] = ()  # squared errors by column, from `measures.loss.local`
    keys: tuple[int, int] = (0, 0)  # xor and sum of the keys of its rows
    handed: tuple[tuple[int, str], ...] = ()  # (block of the second round, file handed to it)

    def to_batch(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict({"facts": [json.dumps(asdict(self))]})

    @classmethod
    def from_json(cls, text: str) -> BlockFacts:
        return cls(**json.loads(text))

    @property
    def done(self) -> bool:
        return bool(self.file or self.handed)


@dataclass(frozen=True)
class GroupMaker:
    """How the groups of a block are made."""

    space: FittedSpace
    grouping: Grouping
    k: int

    def points(self, records: Records, guard: Guard) -> Points:
        return replace(self.space.points(records).checked(), guard=guard)

    def labels(self, points: Points, starts: Labels | None, random: np.random.Generator) -> Labels:
        """The group of every record; `starts` are groups that were made in other blocks."""
        if starts is not None and isinstance(self.grouping, Crossing):
            return self.grouping.go_on(points, self.k, starts)
        return self.grouping.group(points, self.k, random)


@dataclass(frozen=True)
class Masking:
    """Everything an executor needs to know; small, immutable, shipped once.

    A block is written to a file of its own by the worker that masked it: the way back through the
    JVM would cost as much as a plain job. A task that is tried again writes another file, and
    the driver keeps those that the successful tasks name.
    """

    quasi: tuple[Quasi, ...]
    statistics: tuple[ColumnStatistics, ...]
    groups: GroupMaker | None  # None: every record is masked on its own
    release: FittedRelease
    constraints: Constraints
    floor: int
    keep_groups: bool  # whether the staged table needs group numbers to be verified
    pair_with: tuple[str, ...] | None  # sensitive columns written to the pairs; None: no pairs
    folder: str
    key: bytes = field(repr=False)
    weight: str | None = None  # the column that says how much each record counts
    names: tuple[str, ...] = ()  # the names of the incoming columns, which arrive as c0, c1, ...

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        """For `mapInArrow`: a partition holds whole blocks, usually one."""
        for block, table in whole_blocks(batches, self.names):
            yield self.staged(table, block).to_batch()

    def staged(self, table: pa.Table, block: int) -> BlockFacts:
        """Mask a block and write it; no file if it is too small or too uniform."""
        if table.num_rows < self.floor:
            return BlockFacts(block, table.num_rows)
        found = self.mask(table, block)
        if found is None:
            return BlockFacts(block, table.num_rows)
        masked, pair, errors = found
        written = self._written(masked), self._written(pair) if pair is not None else ""
        keys = table.column(KEY).to_numpy().view(np.uint64)
        both = int(np.bitwise_xor.reduce(keys)), int(np.sum(keys))
        return BlockFacts(block, table.num_rows, *written, tuple(errors), both)

    def _written(self, table: pa.Table) -> str:
        name = f"part-{uuid.uuid4().hex}.snappy.parquet"
        pq.write_table(table, Path(self.folder) / name, store_schema=False)
        return name

    def mask(
        self, table: pa.Table, block: int
    ) -> tuple[pa.Table, pa.Table | None, list[float]] | None:
        """The released rows of one block, in an order only the seed knows, and what they lost.

        If asked for, also the pair: original cells x0, x1, ..., released ones z0, z1, ..., and
        sensitive ones s0, s1, ..., row by row. None if no grouping keeps the constraints.
        """
        by_key = key_order(table)
        cells = self._cells(table, by_key)
        read = [q.read(cells[q.name]) for q in self.quasi]
        records: Records = tuple(column for column, _ in read)
        labels = self._whole(records, table, by_key)
        if labels is None:
            return None
        rows = _digest(table, by_key)
        random, weights = generator(self.key, "release", rows), self._weights(table, by_key)
        published = self.release.publish(records, Grouped(labels, random, weights))
        masked: list[Column] = []
        cells_out: dict[str, pa.Array] = {}
        for quasi, (column, categories), new in zip(self.quasi, read, published, strict=True):
            if isinstance(new, NewValues):
                masked.append(column.with_values(quasi.snap(new.values), new.null))
                cells_out[quasi.name] = quasi.write(masked[-1].values, new.null, categories)
            elif isinstance(new, Generalized):
                spanned, cells_out[quasi.name] = span_cells(
                    quasi, column, new, categories, cells[quasi.name]
                )
                masked.append(spanned)
            elif isinstance(new, Replaced):
                snapped = quasi.snap(new.values)
                masked.append(
                    column.with_values(np.where(new.where, snapped, column.values), column.null)
                )
                kept = cells[quasi.name]
                others = quasi.write(snapped, ~new.where, categories).cast(kept.type)
                cells_out[quasi.name] = pc.if_else(pa.array(new.where), others, kept)
            else:
                masked.append(column.with_values(column.values[new.rows], column.null[new.rows]))
                cells_out[quasi.name] = cells[quasi.name].take(pa.array(new.rows))
        shown = self._order(masked, generator(self.key, "order", rows))
        arrays = {name: array.take(pa.array(shown)) for name, array in cells_out.items()}
        travelled = by_key[shown]
        for name in table.column_names:
            if name not in arrays and name not in _OWN and not name.startswith(RULED):
                arrays[name] = table.column(name).take(pa.array(travelled))
        public = {name: arrays[name] for name in table.column_names if name in arrays}
        if self.keep_groups:
            public[GROUP] = pa.array(labels[shown].astype(np.int64) + (np.int64(block) << 32))
        pair = None
        if self.pair_with is not None:
            sides = {f"x{i}": cells[q.name].take(shown) for i, q in enumerate(self.quasi)}
            sides |= {f"z{i}": arrays[q.name] for i, q in enumerate(self.quasi)}
            sides |= {f"s{i}": arrays[name] for i, name in enumerate(self.pair_with)}
            if self.keep_groups:
                sides["g"] = public[GROUP]
            pair = pa.table(sides)
        return pa.table(public), pair, loss.local(records, tuple(masked), self.statistics)

    def _order(self, masked: list[Column], random: np.random.Generator) -> Order:
        """The order in which rows are written; it cannot be computed without the seed.

        Equal rows stand together, by a keyed hash of their released cells, which makes files
        smaller and counting faster. The rows of two groups with equal cells are mixed. Where a
        release draws from groups, rows are in a random order, so that it does not show the groups.
        """
        shuffled = random.permutation(len(masked[0].values))
        if self.keep_groups:
            return shuffled
        look = prints(tuple(masked), np.full(len(shuffled), random.integers(2**63), np.uint64))
        return shuffled[np.argsort(look[shuffled], kind="stable")]

    def _weights(self, table: pa.Table, order: Order) -> Floats | None:
        if self.weight is None:
            return None
        cells = table.column(self.weight).take(order).combine_chunks()
        cells = cells.cast(pa.float64(), safe=False)  # a bigint to its nearest double
        return np.asarray(cells.to_numpy(zero_copy_only=False), np.float64)

    def grouped(self, table: pa.Table) -> tuple[Order, Labels]:
        """The rows of a block in the order of their keys, and the group of each."""
        by_key = key_order(table)
        cells = self._cells(table, by_key)
        records = tuple(q.read(cells[q.name])[0] for q in self.quasi)
        if self.groups is None:
            raise ValueError("no groups are made")
        return by_key, self._labels(self.groups, records, table, by_key)[1]

    def _cells(self, table: pa.Table, order: Order) -> dict[str, pa.Array]:
        return {q.name: table.column(q.name).take(order).combine_chunks() for q in self.quasi}

    def _whole(self, records: Records, table: pa.Table, order: Order) -> Labels | None:
        """Groups that keep the constraints, or None; without groups, every record on its own."""
        if self.groups is None:
            return np.arange(len(order), dtype=np.int32)
        return merged(*self._labels(self.groups, records, table, order))

    def _labels(
        self, groups: GroupMaker, records: Records, table: pa.Table, order: Order
    ) -> tuple[Points, Labels]:
        points = groups.points(records, self.constraints.guard(table, order))
        starts = None
        if START in table.column_names:
            named = table.column(START).to_numpy()[order]
            starts = np.unique(named, return_inverse=True)[1].astype(np.int32)
        random = generator(self.key, "group", _digest(table, order))
        return points, groups.labels(points, starts, random)


def key_order(table: pa.Table) -> Order:
    """Rows in the order of their keys; rows of one key in the order of their cells."""
    keys = table.column(KEY).to_numpy()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    if len(keys) > 1 and (ordered[1:] == ordered[:-1]).any():
        names = [KEY, *(f.name for f in table.schema if f.name != KEY and _orderable(f.type))]
        by_cells = [(name, "ascending") for name in names]
        order = pa.compute.sort_indices(table, sort_keys=by_cells).to_numpy().astype(np.int64)
    return order


def _digest(table: pa.Table, order: Order) -> bytes:
    """A digest of this set of rows, by which random draws are keyed."""
    keys = np.ascontiguousarray(table.column(KEY).to_numpy()[order])
    return hashlib.sha256(keys.tobytes()).digest()


def _orderable(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def block_facts(facts: Iterable[str]) -> list[BlockFacts]:
    """The facts of all blocks, in block order."""
    return sorted(map(BlockFacts.from_json, facts), key=lambda one: one.block)
