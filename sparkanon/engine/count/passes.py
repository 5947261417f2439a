"""Passes over a table that add up tallies: each partition returns one row, whatever its size."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from sparkanon.engine.session.session import batches_by_rows
from sparkanon.engine.session.workers import errors_by_place

Batches = Iterator[pa.RecordBatch]
TOGETHER = 65_536  # rows: a tally of a small batch would cost as much as one of a large


class Counting(Protocol):
    """Counts a piece of a partition; the results of all pieces are added."""

    def count(self, cells: pa.Table) -> Any: ...


@dataclass(frozen=True)
class _OnExecutors:
    counting: Counting

    @errors_by_place
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
    """The tally of the whole table, None if it is empty; partitions are added in a fixed order."""
    with batches_by_rows(table.sparkSession):
        rows = table.mapInArrow(_OnExecutors(counting), "tally binary").collect()
    parts = [pickle.loads(row["tally"]) for row in rows]  # noqa: S301 (made by ourselves)
    return reduce(add, parts) if parts else None
