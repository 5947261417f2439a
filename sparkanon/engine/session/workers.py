"""What functions that run in Spark's Python workers share."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
import pyarrow as pa

from sparkanon.engine.sql.names import BLOCK
from sparkanon.errors import KernelError
from sparkanon.raised import raised_at

P = ParamSpec("P")
T = TypeVar("T")


def settles(work: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """After a task, leave all that the worker has loaded out of later garbage collections.

    Spark's daemon collects garbage after every task. The objects of numpy, numba and pyarrow
    took it 70 ms each time, as long as masking 15,000 records.
    """

    @wraps(work)
    def settled(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        yield from work(*args, **kwargs)
        gc.collect()
        gc.freeze()

    return settled


def errors_by_place(work: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """Replace any error by its type and place, because its text may hold a cell."""

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        failure: KernelError | None = None
        try:
            yield from work(*args, **kwargs)
        except Exception as error:
            failure = KernelError(raised_at(error))
        if failure is not None:
            raise failure

    return guarded


def in_worker(work: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """What all of our functions need that Spark's Python workers run."""
    return settles(errors_by_place(work))


def whole_blocks(
    batches: Iterator[pa.RecordBatch], names: Sequence[str] | None = None, by: str = BLOCK
) -> Iterator[tuple[int, pa.Table]]:
    """The blocks of a partition, columns by their own names where these are given."""
    rows = [batch for batch in batches if batch.num_rows]
    if not rows:
        return
    table = pa.Table.from_batches(rows)
    del rows
    table = table if names is None else table.rename_columns(list(names))
    blocks = table.column(by).to_numpy()
    for block in np.unique(blocks):
        one = table.filter(pa.array(blocks == block)) if (blocks != block).any() else table
        yield int(block), one
