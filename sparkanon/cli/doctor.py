"""sparkanon doctor: is this session, store and cluster ready, and what to change if not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sparkanon.cli import terminal
from sparkanon.cli.running import AsJson, call, running_spark
from sparkanon.cli.terminal import escape, out
from sparkanon.errors import InputError, Problem, SparkanonError, counted

if TYPE_CHECKING:
    from sparkanon.engine.doctor import Check

_MARKS = {"ok": "[green]✓[/]", "warn": "[yellow]![/]", "fail": "[bold red]✗[/]"}


def doctor(
    master: Annotated[
        str | None, typer.Option(help="Spark's master: local[4], yarn, spark://host:7077.")
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="URL", help="Where a release is to go.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Say whether this session, store and cluster are ready for a run, and what to change.

    Starts Spark as a run would, asks a Python worker in every slot about itself, and with
    --output writes, reads, renames and removes a small private folder there. Exit code 2 if a
    run would fail.
    """
    call.json = as_json
    if master is not None and "PYSPARK_GATEWAY_PORT" in os.environ:
        raise InputError(Problem("--master", "is an option of spark-submit here"))
    from sparkanon.engine import doctor as engine

    conf = {} if master is None else {"spark.master": master}
    try:
        with running_spark(None, terminal.Progress(), conf=conf) as spark:
            checks = engine.examine(spark, output)
    except SparkanonError as error:
        checks = [engine.not_started(error)]
    failed = [Problem(one.name, one.sentence) for one in checks if one.state == "fail"]
    if as_json:
        content = {
            "status": "error" if failed else "ok",
            "run_id": call.run_id,
            "checks": [one.to_dict() for one in checks],
        }
        errors = {"errors": [{"path": p.path, "message": p.message} for p in failed]}
        terminal.print_json(content | (errors if failed else {}))
    else:
        _show(checks, len(failed))
    return InputError.exit_code if failed else 0


def _show(checks: Sequence[Check], failed: int) -> None:
    width = max(len(one.name) for one in checks)
    for one in checks:
        out.print(f"{_MARKS[one.state]} {one.name:<{width}}  {escape(one.sentence)}")
    verdict = f"[bold red]not ready[/]: {counted(failed, 'check')} failed"
    out.print(f"\n{verdict if failed else '[bold green]ready[/]'}")
