"""The stager `spark`: rows come back from the workers, and Spark's own writer stages them.

So a release can be staged wherever Spark can write, and executors need no folder. What a block
reports comes before its rows, in a row of its own that is added up and not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.mask.masking import Batches, Masked, Masking
from sparkanon.engine.mask.shared import not_shared
from sparkanon.engine.mask.stager import Placed, Reported, Target
from sparkanon.engine.mask.sums import NUMBER, NUMBERS, Report, Sums, as_cell
from sparkanon.engine.session.session import batches_by_rows, times_in_micros
from sparkanon.engine.session.workers import in_worker, whole_blocks
from sparkanon.engine.sql.names import BLOCK, FACTS, GROUP, START, quoted
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.table.tables import read_staged

_BATCH = 10_000  # rows that go back to the JVM at a time
_FACTS = pa.field(FACTS, pa.list_(NUMBER))


@dataclass(frozen=True)
class MaskToRows:
    """Mask blocks: the staged columns come back as c0, c1, ..., original cells after them."""

    masking: Masking
    sums: Sums

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, self.masking.names):
            reports, rows = _apart(table)
            masked = None
            if rows.num_rows:
                facts, masked = self.masking.block(rows, block)
                reports.append(self.sums.masked(facts))
            yield from _reported(reports, self._shaped(rows, masked))

    def _shaped(self, rows: pa.Table, masked: Masked | None) -> pa.Table:
        """The masked rows, or none, in columns of the same types for all blocks."""
        masking = self.masking
        incoming = dict(zip(rows.column_names, rows.schema.types, strict=True))
        staged = incoming | {q.name: q.arrow for q in masking.quasi}
        kinds = [staged[name] for name in masking.written(rows)]
        kinds += [pa.int64()] if masking.keep_groups else []
        kinds += [incoming[q.name] for q in masking.quasi] if masking.with_originals else []
        schema = pa.schema(list(zip(_numbered(len(kinds)), kinds, strict=True)))
        if masked is None:
            return schema.empty_table()
        cells = [*masked.table.columns, *masked.originals]
        cells = [cell.cast(kind) for cell, kind in zip(cells, schema.types, strict=True)]
        return pa.table(cells, schema=schema)


@dataclass(frozen=True)
class HandOver:
    """The first of two rounds: group blocks; their rows go on to the blocks of the second one."""

    masking: Masking
    sums: Sums

    @in_worker
    def __call__(self, batches: Batches) -> Batches:
        for block, table in whole_blocks(batches, self.masking.names):
            made = self.masking.handed_over(table, block)
            report = self.sums.handed_over(block, done=made is not None)
            if made is None:
                made = table.slice(0, 0).append_column(START, pa.array([], pa.int64()))
            made = made.rename_columns(_numbered(made.num_columns))
            yield from _reported([report], made)


class BySpark:
    """Stages with Spark's writer.

    Where pairs are wanted, rows are first written to their place, original cells beside them, and
    the staged table is copied from there: no file that may be published ever held an original.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._written = target.schema  # of the attempt, with the originals if they are wanted

    def mask(self, placed: Placed, masking: Masking) -> Reported:
        rows, masking = placed.rows, replace(masking, names=placed.names)
        sums = Sums.of(masking.statistics, placed.blocks, placed.second or placed.blocks)
        if self._target.pairs is not None:
            self._written = self._beside_originals(placed, masking)
        if placed.second is not None:
            rows, masking = _handed_over(rows, masking, sums, placed.second)
        sums_of_all = Observation()
        masked = rows.mapInArrow(MaskToRows(masking, sums), _with_facts(self._written))
        masked = masked.observe(
            sums_of_all, *(F.expr(sql).alias(n) for n, sql in sums.asked().items())
        )
        masked = masked.filter(f"{FACTS} is null").drop(FACTS).toDF(*self._written.names)
        place = self._target.pairs or self._target.table
        _write(masked, place)
        found = sums_of_all.get
        if isinstance(place, Posix) and len(sums.done(found)) > len(list(place.glob("part-*"))):
            raise not_shared()  # an executor wrote on a disk of its own
        handed = sums.done(found) if placed.second is None else sums.handed(found)
        return Reported(
            small=frozenset(range(placed.blocks)) - handed,
            done=sums.all_done(found),
            errors=sums.errors(found),
            keys=sums.keys(found),
        )

    def keep(self) -> None:
        """Take the staged table out of the pairs; without pairs it is in its place already."""
        target = self._target
        if target.pairs is None:
            return
        rows = read_staged(target.spark, target.pairs.url, self._written)
        names = zip(self._written.names, target.schema.names, strict=False)  # no originals
        _write(rows.selectExpr(*(f"{z} as {quoted(name)}" for z, name in names)), target.table)

    def _beside_originals(self, placed: Placed, masking: Masking) -> T.StructType:
        """The staged columns as z0, ..., s0, ..., g, the rest r0, ..., and originals x0, ..."""
        named = {q.name: f"z{i}" for i, q in enumerate(masking.quasi)}
        named |= {name: f"s{i}" for i, name in enumerate(self._target.sensitive)} | {GROUP: "g"}
        made = T.StructType()
        for i, field in enumerate(self._target.schema):
            made = made.add(named.get(field.name, f"r{i}"), field.dataType)
        for i, q in enumerate(masking.quasi):
            made = made.add(f"x{i}", placed.rows.schema[placed.names.index(q.name)].dataType)
        return made


def _write(rows: DataFrame, place: Place) -> None:
    with batches_by_rows(rows.sparkSession), times_in_micros(rows.sparkSession):
        rows.write.mode("overwrite").parquet(place.url)


def _handed_over(
    rows: DataFrame, masking: Masking, sums: Sums, blocks: int
) -> tuple[DataFrame, Masking]:
    """The rows that the first round hands over, in the blocks of the second one."""
    own = T.StructType([*rows.schema, T.StructField(START, T.LongType())])
    block = f"c{masking.names.index(BLOCK)}"
    handed = rows.mapInArrow(HandOver(masking, sums), _with_facts(own))
    # the rows of reports alone have no block; the first one passes them on
    handed = handed.withColumn(block, F.coalesce(block, F.lit(0)))
    names = (*masking.names, START, FACTS)
    return handed.repartitionById(blocks, block), replace(masking, names=names, floor=0)


def _with_facts(schema: T.StructType) -> T.StructType:
    """The columns as they come back from a worker: numbered, and after them the facts."""
    numbered = zip(_numbered(len(schema)), schema, strict=True)
    fields = [T.StructField(name, _sql_type(field.dataType)) for name, field in numbered]
    return T.StructType(fields).add(FACTS, NUMBERS)


def _sql_type(kind: T.DataType) -> T.DataType:
    """A type that somebody defined travels as the one of SQL that is behind it."""
    return kind.sqlType() if isinstance(kind, T.UserDefinedType) else kind


def _numbered(n: int) -> list[str]:
    return [f"c{i}" for i in range(n)]


def _reported(reports: Sequence[Report], rows: pa.Table) -> Batches:
    """Reports in rows of their own, and then the rows."""
    facts = pa.array([as_cell(report) for report in reports], _FACTS.type)
    alone = [pa.nulls(len(facts), kind) for kind in rows.schema.types]
    schema = rows.schema.append(_FACTS)
    yield pa.RecordBatch.from_arrays([*alone, facts], schema=schema)
    silent = pa.nulls(rows.num_rows, _FACTS.type)
    yield from rows.append_column(_FACTS, silent).to_batches(max_chunksize=_BATCH)


def _apart(table: pa.Table) -> tuple[list[Report], pa.Table]:
    """The reports that came from a first round, and the rows."""
    if FACTS not in table.column_names:
        return [], table
    facts = table.column(FACTS)
    rows = table.filter(facts.is_null()).drop_columns([FACTS])
    return facts.drop_null().to_pylist(), rows
