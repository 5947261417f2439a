"""Passes over the pair that add up tallies: one row a partition comes back, whatever its size."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from sparkanon.engine.audit.pairs import Compared
from sparkanon.engine.session import batches_by_rows
from sparkanon.engine.workers import told_by_place
from sparkanon.numeric.records import Column, Records, Scale

Batches = Iterator[pa.RecordBatch]
TOGETHER = 65_536  # rows: a tally of a small batch would cost as much as one of a large


class Counting(Protocol):
    """Counts one piece of a partition; what it returns can be added."""

    def count(self, cells: pa.Table) -> Any: ...


C = TypeVar("C", bound=Counting)


@dataclass(frozen=True)
class _OnExecutors:
    counting: Counting

    @told_by_place
    def __call__(self, batches: Batches) -> Batches:
        total = None
        for cells in _pieces(batches):
            part = self.counting.count(cells)
            total = part if total is None else total + part
        if total is not None:
            yield pa.RecordBatch.from_pydict({"tally": [pickle.dumps(total)]})


def _pieces(batches: Batches) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= TOGETHER:
            yield pa.Table.from_batches(held)
            held = []
    if held and sum(one.num_rows for one in held):
        yield pa.Table.from_batches(held)


def tally(table: DataFrame, counting: Counting) -> Any:
    """The tally of the whole table, or None of an empty one; blocks are added in their order."""
    with batches_by_rows(table.sparkSession):
        rows = table.mapInArrow(_OnExecutors(counting), "tally binary").collect()
    parts = [pickle.loads(row["tally"]) for row in rows]  # noqa: S301 (made by ourselves)
    return reduce(add, parts) if parts else None


def sides_of(compared: Sequence[Compared]) -> list[str]:
    """The numbers of both sides as x0, ..., z0, ..., for `selectExpr`."""
    return [f"{c.x} as x{i}" for i, c in enumerate(compared)] + [
        f"{c.z} as z{i}" for i, c in enumerate(compared)
    ]


def records(compared: Sequence[Compared], *tables: tuple[pa.Table, str]) -> tuple[Records, ...]:
    """Cells of several (table, letter) as kernels' columns, categories coded alike in all."""
    made: list[list[Column]] = [[] for _ in tables]
    for i, c in enumerate(compared):
        cells = [table.column(f"{letter}{i}").combine_chunks() for table, letter in tables]
        for column, cell, values in zip(made, cells, _values(c.scale, cells), strict=True):
            null = cell.is_null().to_numpy(zero_copy_only=False).astype(np.bool_)
            column.append(Column(c.name, c.scale, np.where(null, 0.0, values), null))
    return tuple(tuple(columns) for columns in made)


def _values(scale: Scale, cells: Sequence[pa.Array]) -> list[Any]:
    if scale is not Scale.NOMINAL:
        return [cell.fill_null(0.0).to_numpy(zero_copy_only=False) for cell in cells]
    coded = pa.chunked_array(cells).dictionary_encode().unify_dictionaries()
    return [
        chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        for chunk in coded.chunks
    ]
