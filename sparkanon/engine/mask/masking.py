"""One block at a time: Arrow in, kernels, Arrow out. This is what runs on the executors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sparkanon.engine.mask.spans import span_cells
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
    done: bool = False  # if not, the block has to be merged with its sibling
    errors: tuple[float, ...] = ()  # squared errors by column, from `measures.loss.local`
    keys: tuple[int, int] = (0, 0)  # xor and sum of the keys of its rows


@dataclass(frozen=True)
class Masked:
    """The released rows of a block, in an order only the seed knows, and what they lost."""

    table: pa.Table  # the public columns, then the private ones that a promise is verified by
    originals: Sequence[pa.Array]  # the cells of each quasi-identifier before, row by row
    errors: Sequence[float]


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
    """Everything an executor needs to know; small, immutable, shipped once."""

    quasi: tuple[Quasi, ...]
    statistics: tuple[ColumnStatistics, ...]
    groups: GroupMaker | None  # None: every record is masked on its own
    release: FittedRelease
    constraints: Constraints
    floor: int
    keep_groups: bool  # whether the staged table needs group numbers to be verified
    with_originals: bool
    key: bytes = field(repr=False)
    weight: str | None = None  # the column that says how much each record counts
    names: tuple[str, ...] = ()  # the names of the incoming columns, which arrive as c0, c1, ...

    def block(self, table: pa.Table, block: int) -> tuple[BlockFacts, Masked | None]:
        """Mask a block, and what it reports; no rows if it is too small or too uniform."""
        masked = self.mask(table, block) if table.num_rows >= self.floor else None
        if masked is None:
            return BlockFacts(block), None
        keys = table.column(KEY).to_numpy().view(np.uint64)
        both = int(np.bitwise_xor.reduce(keys)), int(np.sum(keys))
        return BlockFacts(block, True, tuple(masked.errors), both), masked

    def mask(self, table: pa.Table, block: int) -> Masked | None:
        """Mask a block; None if no grouping keeps the constraints."""
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
        travelled = pa.array(by_key[shown])
        for name in self.written(table):
            if name not in arrays:
                arrays[name] = table.column(name).take(travelled)
        public = {name: arrays[name] for name in self.written(table)}
        if self.keep_groups:
            public[GROUP] = pa.array(labels[shown].astype(np.int64) + (np.int64(block) << 32))
        before = self.quasi if self.with_originals else ()
        originals = [cells[q.name].take(pa.array(shown)) for q in before]
        errors = loss.local(records, tuple(masked), self.statistics)
        return Masked(pa.table(public), originals, errors)

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

    def handed_over(self, table: pa.Table, block: int) -> pa.Table | None:
        """Group a block: START names the group of a row, BLOCK the block that takes it over.

        No group is split. None if the block is too small.
        """
        if table.num_rows < self.floor:
            return None
        if self.groups is None:
            raise ValueError("no groups are made")
        order = key_order(table)
        cells = self._cells(table, order)
        records = tuple(q.read(cells[q.name])[0] for q in self.quasi)
        labels = self._labels(self.groups, records, table, order)[1]
        # a group goes where its first record goes
        goes = table.column(NEXT).to_numpy()[order]
        goes = goes[np.unique(labels, return_index=True)[1]][labels]
        place = table.column_names.index(BLOCK)
        starts = labels.astype(np.int64) + (np.int64(block) << 32)
        table = table.take(pa.array(order)).set_column(place, BLOCK, pa.array(goes))
        return table.append_column(START, pa.array(starts))

    @staticmethod
    def written(table: pa.Table) -> list[str]:
        """The columns of an incoming block that are staged."""
        names: list[str] = table.column_names
        return [name for name in names if name not in _OWN and not name.startswith(RULED)]

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
