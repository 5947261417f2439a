"""An error that nobody expected is reported by its type and its true place, never by its text."""

from __future__ import annotations

import inspect

import numpy as np
import pyarrow as pa
import pytest

from sparkanon.engine.table.columns import Quasi
from sparkanon.engine.table.profile import starter_policy
from sparkanon.errors import KernelError
from sparkanon.policy.model import ColumnType
from sparkanon.raised import raised_at

CELL = "Zanzibar-4711"


def failure(work: object, *arguments: object) -> BaseException:
    with pytest.raises(Exception) as caught:
        work(*arguments)  # type: ignore[operator]
    return caught.value


def line_of(function: object, text: str) -> int:
    lines, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    return next(first + i for i, line in enumerate(lines) if text in line)


def test_an_error_of_a_library_is_reported_at_the_line_of_ours_that_called_it() -> None:
    from pyspark.sql import types as T

    quasi = Quasi("age", ColumnType.NUMERIC, T.DoubleType())
    error = failure(quasi.read, pa.array([CELL]))
    line = line_of(Quasi._numbers, "return np.asarray(_numpy(cells.cast(pa.float64())")
    reported = raised_at(error)
    start = f"pyarrow.lib.ArrowInvalid at sparkanon/engine/table/columns.py:{line} in _numbers"
    assert reported.startswith(start)
    assert "(from pyarrow." in reported
    assert CELL not in reported


def test_an_error_of_ours_is_reported_without_a_library() -> None:
    error = failure(starter_policy, None, {}, 5)
    line = line_of(starter_policy, "profile.columns).items()")
    reported = raised_at(error)
    assert (
        reported == f"AttributeError at sparkanon/engine/table/profile.py:{line} in starter_policy"
    )


def test_an_error_that_passed_no_line_of_ours() -> None:
    assert raised_at(ValueError(CELL)) == "ValueError"
    reported = raised_at(failure(np.linalg.inv, np.zeros((2, 2))))
    assert (
        reported
        == "numpy.linalg.LinAlgError (from numpy.linalg._linalg._raise_linalgerror_singular)"
    )


class PythonException(Exception):
    """What Spark makes of a worker's error: a text."""


def test_what_a_worker_said_is_repeated_and_nothing_else() -> None:
    said = "ValueError at sparkanon/engine/mask/masking.py:97 in staged (from pyarrow.lib.cast)"
    text = f'Traceback:\n  File "x.py", line 3, in y\n{KernelError.__module__}.KernelError: {said}'
    assert raised_at(PythonException(f"{text}\n\n{CELL}")) == said
    other = (
        'Traceback (most recent call last):\n  File "/lib/sparkanon/engine/x.py", line 7, in f\n'
        f"    g({CELL})\n  File \"/lib/pandas/core.py\", line 9, in g\nKeyError: '{CELL}'\n"
    )
    reported = raised_at(PythonException(other))
    assert reported == "KeyError at sparkanon/engine/x.py:7 in f"
