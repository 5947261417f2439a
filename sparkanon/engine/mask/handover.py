"""Two rounds: groups made in one set of blocks are handed to blocks of other cuts.

In the first round a group at the border of its block cannot take a record from the next block. In
the second round the borders lie elsewhere. Rows are handed from one round to the other in private
files, because a second way through the JVM would cost as much as the first. No group is split.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sparkanon.engine.mask.masking import Batches, BlockFacts, Masking
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import NEXT, START

_FILES = pa.schema({"block": pa.int32(), "file": pa.string()})


@dataclass(frozen=True)
class HandOver:
    """The first round: group a block, and write each group to the block of the second round."""

    masking: Masking

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, self.masking.names):
            yield self._handed(table, block).to_batch()

    def _handed(self, table: pa.Table, block: int) -> BlockFacts:
        if table.num_rows < self.masking.floor:
            return BlockFacts(block, table.num_rows)
        order, labels = self.masking.grouped(table)
        # a group goes where its first record goes
        goes = table.column(NEXT).to_numpy()[order]
        goes = goes[np.unique(labels, return_index=True)[1]][labels]
        table = table.take(pa.array(order))
        table = table.append_column(START, pa.array(labels.astype(np.int64) + (block << 32)))
        files = [
            (int(to), self._written(table.filter(pa.array(goes == to)))) for to in np.unique(goes)
        ]
        return BlockFacts(block, table.num_rows, handed=tuple(files))

    def _written(self, table: pa.Table) -> str:
        name = f"part-{uuid.uuid4().hex}.arrow"
        path = str(Path(self.masking.folder) / name)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return name


@dataclass(frozen=True)
class TakeOver:
    """The second round: refine and mask the groups that were handed to a block."""

    masking: Masking

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        named = pa.Table.from_batches(list(batches), _FILES)
        blocks, files = named.column("block").to_numpy(), named.column("file").to_pylist()
        for block in np.unique(blocks):
            table = self._read([files[i] for i in np.flatnonzero(blocks == block)])
            yield self.masking.staged(table, int(block)).to_batch()

    def _read(self, files: Sequence[str]) -> pa.Table:
        folder = Path(self.masking.folder)
        tables = [pa.ipc.open_file(pa.memory_map(str(folder / name))).read_all() for name in files]
        return pa.concat_tables(tables)


def handed(facts: Sequence[BlockFacts]) -> pa.Table:
    """A table of the files, with the block of the second round that takes each."""
    pairs = [pair for one in facts for pair in one.handed]
    blocks, files = [block for block, _ in pairs], [name for _, name in pairs]
    return pa.table({"block": blocks, "file": files}, schema=_FILES)
