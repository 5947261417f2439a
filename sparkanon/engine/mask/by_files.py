"""The stager `files`: a block is written to a file of its own by the worker that masked it.

The way back through the JVM would cost as much as a plain job. A task that is tried again writes
another file, and the driver keeps those that the successful tasks name.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import xor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from sparkanon.engine.mask.masking import Batches, BlockFacts, Masked, Masking
from sparkanon.engine.mask.shared import not_shared
from sparkanon.engine.mask.stager import Placed, Reported, Target
from sparkanon.engine.session.session import batches_by_rows
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import BLOCK, GROUP
from sparkanon.engine.stores.owned import remove
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.errors import InputError, Problem
from sparkanon.measures import loss

_FILES = pa.schema({"block": pa.int32(), "file": pa.string()})


@dataclass(frozen=True)
class Filed(BlockFacts):
    """What a block reports, and the names of its files."""

    file: str = ""  # the masked rows
    pair: str = ""  # the same rows beside their originals, if they are to be compared
    handed: tuple[tuple[int, str], ...] = ()  # (block of the second round, file handed to it)

    def to_batch(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict({"facts": [json.dumps(asdict(self))]})


@dataclass(frozen=True)
class MaskToFiles:
    """Mask blocks and write each; a partition holds whole blocks, usually one."""

    masking: Masking
    folder: str
    sensitive: tuple[str, ...]  # the columns that stand in the pairs as s0, s1, ...

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, self.masking.names):
            yield self.filed(table, block).to_batch()

    def filed(self, table: pa.Table, block: int) -> Filed:
        """Mask a block and write it, if it can be done."""
        facts, masked = self.masking.block(table, block)
        if masked is None:
            return Filed(block)
        pair = self._pair(masked) if masked.originals else None
        return Filed(
            **vars(facts),
            file=self._written(masked.table),
            pair=self._written(pair) if pair is not None else "",
        )

    def _pair(self, masked: Masked) -> pa.Table:
        """Original cells x0, x1, ..., released ones z0, ..., sensitive ones s0, ..., groups g."""
        cells = masked.table.column
        sides = {f"x{i}": original for i, original in enumerate(masked.originals)}
        sides |= {f"z{i}": cells(q.name) for i, q in enumerate(self.masking.quasi)}
        sides |= {f"s{i}": cells(name) for i, name in enumerate(self.sensitive)}
        if GROUP in masked.table.column_names:
            sides["g"] = cells(GROUP)
        return pa.table(sides)

    def _written(self, table: pa.Table) -> str:
        name = f"part-{uuid.uuid4().hex}.snappy.parquet"
        pq.write_table(table, Path(self.folder) / name, store_schema=False)
        return name


@dataclass(frozen=True)
class HandOver:
    """The first of two rounds: group a block, and write each group to the block it goes to.

    Rows go through private files, because a second way through the JVM would cost as much as the
    first.
    """

    masking: Masking
    folder: str

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, self.masking.names):
            yield self._handed(table, block).to_batch()

    def _handed(self, table: pa.Table, block: int) -> Filed:
        made = self.masking.handed_over(table, block)
        if made is None:
            return Filed(block)
        goes = made.column(BLOCK).to_numpy()
        files = [
            (int(to), self._written(made.filter(pa.array(goes == to)))) for to in np.unique(goes)
        ]
        return Filed(block, done=True, handed=tuple(files))

    def _written(self, table: pa.Table) -> str:
        name = f"part-{uuid.uuid4().hex}.arrow"
        path = str(Path(self.folder) / name)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return name


@dataclass(frozen=True)
class TakeOver:
    """The second round: refine and mask the groups that were handed to a block."""

    mask: MaskToFiles

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        named = pa.Table.from_batches(list(batches), _FILES)
        blocks, files = named.column("block").to_numpy(), named.column("file").to_pylist()
        for block in np.unique(blocks):
            table = self._read([files[i] for i in np.flatnonzero(blocks == block)])
            yield self.mask.filed(table, int(block)).to_batch()

    def _read(self, files: Sequence[str]) -> pa.Table:
        folder = Path(self.mask.folder)
        tables = [pa.ipc.open_file(pa.memory_map(str(folder / name))).read_all() for name in files]
        return pa.concat_tables(tables)


class ByFiles:
    """Stages into a folder that the driver and all executors see."""

    def __init__(self, target: Target) -> None:
        self._table, self._sensitive = _on_disk(target.table), target.sensitive
        self._pairs = None if target.pairs is None else _on_disk(target.pairs)
        self._work = self._table.with_name("work")
        self._last: list[Filed] = []

    def mask(self, placed: Placed, masking: Masking) -> Reported:
        remove(self._work)
        self._work.mkdir()
        masking = replace(masking, names=placed.names)
        mask = MaskToFiles(masking, str(self._work), self._sensitive)
        if placed.second is None:
            first = last = _reported(placed.rows, mask)
        else:
            first, last = _reported(placed.rows, HandOver(masking, mask.folder)), []
        small = frozenset(range(placed.blocks)) - {one.block for one in first if one.done}
        if placed.second is not None and not small:
            last = self._taken_over(placed, mask, first)
        self._last = [one for one in last if one.done]
        return Reported(
            small=small,
            done=len(self._last) == len(last),
            errors=loss.merge(one.errors for one in self._last),
            keys=(
                reduce(xor, (one.keys[0] for one in self._last), 0),
                sum(one.keys[1] for one in self._last),
            ),
        )

    def _taken_over(
        self, placed: Placed, mask: MaskToFiles, first: Sequence[Filed]
    ) -> list[Filed]:
        """The second round: mask what the blocks of the first one have handed over."""
        pairs = [pair for one in first for pair in one.handed]
        self._check_shared({name for _, name in pairs})
        blocks, files = [block for block, _ in pairs], [name for _, name in pairs]
        named = placed.rows.sparkSession.createDataFrame(
            pa.table({"block": blocks, "file": files}, schema=_FILES)
        ).repartitionById(placed.second or 1, "block")
        masking = replace(mask.masking, floor=0)
        return _reported(named, TakeOver(replace(mask, masking=masking)))

    def keep(self) -> None:
        """Move the files that successful tasks named; a lost task that still writes is ignored."""
        if self._pairs is not None:
            self._move(self._pairs, {one.pair for one in self._last})
        self._move(self._table, {one.file for one in self._last})
        remove(self._work)

    def _move(self, folder: Posix, names: set[str]) -> None:
        self._check_shared(names)
        folder.mkdir()
        for name in names:
            (self._work / name).rename(folder / name)
        (folder / "_SUCCESS").touch()

    def _check_shared(self, names: set[str]) -> None:
        if names - {path.name for path in self._work.glob("part-*")}:
            raise not_shared()


def _on_disk(place: Place) -> Posix:
    if isinstance(place, Posix):
        return place
    text = "files wants a folder that the driver and all executors see; say spark"
    raise InputError(Problem("output.stage_by", text))


def _reported(rows: DataFrame, work: Callable[[Batches], Batches]) -> list[Filed]:
    """What all blocks report, in the order of the blocks."""
    with batches_by_rows(rows.sparkSession):
        found = rows.mapInArrow(work, "facts string").collect()  # one row a block
    said = (Filed(**json.loads(row["facts"])) for row in found)
    return sorted(said, key=lambda one: one.block)
