"""A driver: runs commands of sparkanon in one Spark session, and dies where it is told to.

It reads orders from its standard input, one JSON object a line, and writes what happens to its
standard output: `{"step": ...}` when a step of a run starts, `{"code": ...}` when it is done.
An order may also be a query, `{"sql": ...}`, whose rows it writes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparkanon.cli import app, terminal
from sparkanon.engine.session.session import get_session
from sparkanon.groupings import Refined

BLOCK_ROWS = 400  # many blocks of a small table, so that a fault hits some before and some after


def main() -> None:
    tells = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever else is printed goes to the log

    def tell(**said: Any) -> None:
        tells.write(json.dumps(said) + "\n")

    started = terminal.Progress.started

    def and_tell(progress: terminal.Progress, step: str) -> None:
        tell(step=step)
        started(progress, step)

    terminal.Progress.started = and_tell  # type: ignore[method-assign]
    usual = Refined.block_rows
    session = get_session(delta="delta" in sys.argv, log=Path("spark.log"))
    tell(ready=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "sql" in order:
            rows = session.sql(order["sql"]).collect()
            tell(rows=[list(row) for row in rows])
            continue
        Refined.block_rows = BLOCK_ROWS if order["small_blocks"] else usual  # type: ignore
        out, err = io.StringIO(), io.StringIO()
        caught = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with dying(**order["die"]), caught[0], caught[1]:
            code = app.run(order["arguments"])
        tell(code=code, out=out.getvalue(), err=err.getvalue())
    session.stop()


@contextlib.contextmanager
def dying(before: str = "", after: str = "", call: int = 1) -> Iterator[None]:
    """While this lasts, die before or after a call of `module:Class.method`, JVM included."""
    if not before and not after:
        yield
        return
    module, _, path = (before or after).partition(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for one in owners:
        owner = getattr(owner, one)
    real, calls = getattr(owner, name), 0

    def fatal(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        found = None if before and calls == call else real(*args, **kwargs)
        if calls == call:
            os.killpg(0, signal.SIGKILL)
        return found

    setattr(owner, name, fatal)
    try:
        yield
    finally:
        setattr(owner, name, real)


if __name__ == "__main__":
    main()
