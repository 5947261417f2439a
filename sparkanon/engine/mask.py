"""One block at a time: Arrow in, kernels, Arrow out. This is what runs on the executors."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa

from sparkanon.engine.columns import Quasi
from sparkanon.engine.names import BLOCK, FACTS, GROUP, KEY
from sparkanon.errors import KernelError
from sparkanon.groupings import Grouping
from sparkanon.measures import loss
from sparkanon.numeric.records import Column, Labels, Records
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.releases import NewValues, Release
from sparkanon.rng import generator
from sparkanon.spaces import FittedSpace

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class BlockFacts:
    """What a block tells the driver about itself; its size does not depend on the rows."""

    block: int
    rows: int
    errors: list[float]  # `measures.loss.local`

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> BlockFacts:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Masking:
    """Everything an executor needs to know; small, immutable, shipped once."""

    quasi: tuple[Quasi, ...]
    statistics: tuple[ColumnStatistics, ...]
    space: FittedSpace
    grouping: Grouping
    release: Release
    k: int
    floor: int
    keep_groups: bool  # whether the staged table needs group numbers to be verified
    key: bytes = field(repr=False)
    names: tuple[str, ...] = ()  # of the columns that come in, which Spark numbers

    def __call__(self, batches: Batches) -> Batches:
        """For `mapInArrow`: a partition holds whole blocks, usually one."""
        failure: KernelError | None = None
        try:
            yield from self._blocks(batches)
        except Exception as error:
            # An exception's text may hold a cell; its type and place do not.
            at = traceback.extract_tb(error.__traceback__)[-1]
            failure = KernelError(f"{type(error).__name__} in {at.name}, line {at.lineno}")
        if failure is not None:
            raise failure

    def _blocks(self, batches: Batches) -> Batches:
        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return
        table = pa.Table.from_batches(rows).rename_columns(list(self.names))
        del rows
        blocks = table.column(BLOCK).to_numpy()
        for block in np.unique(blocks):
            one = table.filter(pa.array(blocks == block)) if len(np.unique(blocks)) > 1 else table
            yield from self.mask(one, int(block)).to_batches()

    def mask(self, table: pa.Table, block: int) -> pa.Table:
        """The released rows of one block, in an order only the seed knows."""
        if table.num_rows < self.floor:
            # Too small to be grouped well: say so in one empty row, and the engine merges the
            # block with its sibling. Cells that are not masked never reach the staging folder.
            facts = BlockFacts(block, table.num_rows, [0.0] * len(self.quasi))
            empty = [pa.nulls(1, kind) for kind in table.schema.types]
            table = pa.Table.from_arrays(empty, schema=table.schema)
            labels = np.zeros(1, dtype=np.int32)
        else:
            labels, table, facts = self._masked(sorted_by_key(table), block)
        if self.keep_groups:
            numbers = labels.astype(np.int64) + (np.int64(block) << 32)
            table = table.append_column(GROUP, pa.array(numbers))
        order = generator(self.key, "order", block).permutation(table.num_rows)
        table = table.drop_columns([KEY, BLOCK]).take(pa.array(order))
        told = [facts.to_json()] + [None] * (table.num_rows - 1)
        return table.append_column(FACTS, pa.array(told, pa.string()))

    def _masked(self, table: pa.Table, block: int) -> tuple[Labels, pa.Table, BlockFacts]:
        cells = {q.name: table.column(q.name).combine_chunks() for q in self.quasi}
        read = [q.read(cells[q.name]) for q in self.quasi]
        records: Records = tuple(column for column, _ in read)
        points = self.space.points(records)
        labels = self.grouping.group(points, self.k, generator(self.key, "group", block))
        del points
        published = self.release.publish(records, labels, generator(self.key, "release", block))
        masked: list[Column] = []
        for quasi, (column, categories), new in zip(self.quasi, read, published, strict=True):
            if isinstance(new, NewValues):
                masked.append(column.with_values(quasi.snap(new.values), new.null))
                array = quasi.write(masked[-1].values, new.null, categories)
            else:
                masked.append(column.with_values(column.values[new.rows], column.null[new.rows]))
                array = cells[quasi.name].take(pa.array(new.rows))
            place = table.column_names.index(quasi.name)
            table = table.set_column(place, quasi.name, array)
        errors = loss.local(records, tuple(masked), self.statistics)
        return labels, table, BlockFacts(block, table.num_rows, errors)


def sorted_by_key(table: pa.Table) -> pa.Table:
    """Rows by key; where two keys agree, by whatever cells can be ordered."""
    keys = table.column(KEY).to_numpy()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    table = table.take(pa.array(order))
    if len(keys) > 1 and (ordered[1:] == ordered[:-1]).any():
        names = [KEY, *(f.name for f in table.schema if f.name != KEY and _orderable(f.type))]
        table = table.sort_by([(name, "ascending") for name in names])
    return table


def _orderable(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def told(facts: Iterable[str]) -> list[BlockFacts]:
    """The blocks' facts in block order; a task that ran twice counts once."""
    by_block = {one.block: one for one in map(BlockFacts.from_json, facts)}
    return [by_block[block] for block in sorted(by_block)]
