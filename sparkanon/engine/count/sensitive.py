"""Values of a sensitive column as codes, and how diverse they are in the classes of a table."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.count.passes import tally
from sparkanon.engine.session.session import batches_by_rows
from sparkanon.engine.session.workers import in_worker
from sparkanon.engine.sql.rows import hash_of
from sparkanon.measures import diversity

Codes = npt.NDArray[np.int64]

# A column with more distinct values gets fewer codes for t-closeness: one for each range of
# numbers, and a common one for all rare categories. The measure is then exact up to the width of
# a range, and no class seems closer to the table than it is.
MOST_VALUES = 10_000
FINER = 8  # distinct numbers in the sample for each range that is cut from it


@dataclass(frozen=True)
class _Coding:
    """Values of a sensitive column as codes, in the order of the values; null is the last code."""

    values: pa.Array  # sorted: doubles, whose ranges start at each, or text
    ordered: bool
    joined: bool = False  # there may be more values than codes

    @property
    def codes(self) -> int:
        return len(self.values) + (1 if self.ordered else 2)

    def of(self, cells: pa.Array) -> Codes:
        null = cells.is_null().to_numpy(zero_copy_only=False)
        if self.ordered:
            edges = self.values.to_numpy()
            plain = cells.fill_null(0.0).to_numpy(zero_copy_only=False)
            found = np.maximum(np.searchsorted(edges, plain, side="right") - 1, 0)
        else:
            place = pc.index_in(cells, self.values).fill_null(len(self.values))
            found = place.to_numpy(zero_copy_only=False)
        return np.where(null, self.codes - 1, found).astype(np.int64)

    def expected(self, counts: Codes) -> Codes:
        """The counts of the table for t-closeness, with those of rare categories moved away.

        They get a code of their own that no class has. A class with rare categories then seems
        as far from the table as it can be, and never closer than it is.
        """
        if self.ordered:
            return counts
        joined = np.arange(self.codes) == len(self.values)
        return np.append(np.where(joined, 0, counts), counts[joined])

    def count(self, cells: pa.Table) -> Codes:
        """Counts by code, from the values `v` and how often each occurs, `n`."""
        codes = self.of(cells.column("v").combine_chunks())
        times = cells.column("n").to_numpy()
        return np.bincount(codes, times, minlength=self.codes).astype(np.int64)


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: the codes of its values and how often each occurs in the table."""

    cell: str  # in SQL: a double if the values are ordered, otherwise text
    coding: _Coding
    counts: Codes

    @property
    def ordered(self) -> bool:
        return self.coding.ordered

    def of(self, cells: pa.Array) -> Codes:
        found = self.coding.of(cells)
        # codes that never occur are left out, because they would add to the distance of ranks
        return (np.cumsum(self._seen) - 1)[found] if self.ordered else found

    def distinct_codes(self, cells: pa.Array) -> Codes:
        """A code for every distinct value among these cells, which l-diversity counts."""
        if not self.coding.joined:
            return self.of(cells)
        if self.ordered:
            cells = pc.add(cells, 0.0)  # -0 is 0
        found = pc.dictionary_encode(cells, null_encoding="encode").indices
        return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)

    @property
    def nulls(self) -> bool:
        """Whether the last code of `of` stands for null."""
        return self.ordered and bool(self.counts[-1] > 0)

    @property
    def shares(self) -> Codes:
        """Counts by the codes of `of`."""
        return self.counts[self._seen] if self.ordered else self.counts

    @property
    def _seen(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.counts > 0)


def sensitive(table: DataFrame, name: str) -> Sensitive:
    """Look at a column of the table, given by its SQL name, in one aggregation or two."""
    ordered = isinstance(table.select(name).schema[0].dataType, T.NumericType)
    cell = f"cast({name} as {'double' if ordered else 'string'})"
    sizes = table.selectExpr(f"{cell} as v").groupBy("v").agg(F.expr("count(1) as n"))
    coding = _coding(sizes.filter("v is not null"), ordered)
    return Sensitive(cell, coding, coding.expected(tally(sizes, coding)))


def diversity_of(
    table: DataFrame, classes: Sequence[str], column: Sensitive, c: float
) -> diversity.Diversity:
    """The worst class of the table; `classes` are the columns whose values make one."""
    # a class must be whole in one partition; its hash says which class it is
    cells = table.selectExpr(f"{hash_of(classes)} as cls", f"{column.cell} as v")
    with batches_by_rows(table.sparkSession):
        counting = _ClassCounting(column, c)
        rows = cells.repartition("cls").mapInArrow(counting, "tally binary").collect()
    return diversity.merge(pickle.loads(row["tally"]) for row in rows)  # noqa: S301 (our own)


def _coding(known: DataFrame, ordered: bool) -> _Coding:
    """A code for every distinct value; if these are too many, for ranges or frequent ones."""
    if ordered:
        return _ranges(known)
    frequent = _sorted(known.orderBy(F.expr("n desc"), "v").limit(MOST_VALUES))
    return _Coding(frequent, ordered, joined=len(frequent) == MOST_VALUES)


def _ranges(known: DataFrame) -> _Coding:
    """All distinct numbers, or starts of ranges with about as many of them in each.

    If there are too many, those with the least hashes are the sample that ranges are cut from, so
    that it does not depend on the partitions. All numbers in a range are counted, because
    t-closeness is about ranks among all of them.
    """
    found = _sorted(known.orderBy(F.expr("xxhash64(v)"), "v").limit(FINER * MOST_VALUES))
    if len(found) <= MOST_VALUES:
        return _Coding(found, ordered=True)
    between = tally(known.selectExpr("v", "1L as n"), _Coding(found, ordered=True))
    below = np.cumsum(between) - between
    even = np.linspace(0, below[-1], MOST_VALUES, endpoint=False)
    starts = np.minimum(np.searchsorted(below, even), len(found) - 1)
    return _Coding(found.take(pa.array(np.unique(starts))), ordered=True, joined=True)


def _sorted(values: DataFrame) -> pa.Array:
    found = values.select("v").toArrow().column("v").combine_chunks()
    return found.take(pc.sort_indices(found))


@dataclass(frozen=True)
class _ClassCounting:
    column: Sensitive
    c: float

    @in_worker
    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return
        table = pa.Table.from_batches(held)
        _, cls = np.unique(table.column("cls").to_numpy(), return_inverse=True)
        cells, column = table.column("v").combine_chunks(), self.column
        ranks, values = column.of(cells), column.distinct_codes(cells)
        found = diversity.local(
            cls, ranks, column.shares,
            ordered=column.ordered, c=self.c, values=values, nulls=column.nulls,
        )  # fmt: skip
        yield pa.RecordBatch.from_pydict({"tally": [pickle.dumps(found)]})
