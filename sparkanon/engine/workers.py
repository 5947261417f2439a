"""What a Python worker of Spark needs to know about being one."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from sparkanon.errors import KernelError

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


def told_by_place(work: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """Any error as its type and place: its text may hold a cell."""

    @wraps(work)
    def told(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        failure: KernelError | None = None
        try:
            yield from work(*args, **kwargs)
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            failure = KernelError(f"{type(error).__name__} in {at.name}, line {at.lineno}")
        if failure is not None:
            raise failure

    return told
