"""`sparkanon audit` and `sparkanon report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sparkanon.cli import terminal
from sparkanon.cli.running import (
    AsJson,
    Changes,
    call,
    guessed_source,
    may_be_delta,
    read_policy,
    running_spark,
)
from sparkanon.cli.terminal import escape, out
from sparkanon.errors import InputError, Problem
from sparkanon.policy import Policy
from sparkanon.urls import is_elsewhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sparkanon.engine.audit import Audit


def audit(
    policy: Annotated[
        str | None, typer.Argument(metavar="[POLICY]", help="Names the pair: input and output.")
    ] = None,
    original: Annotated[
        str | None, typer.Option(help="The original table, if not the input.")
    ] = None,
    release: Annotated[str | None, typer.Option(help="The released table, of any tool.")] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Column of both tables that says which rows belong together."),
    ] = None,
    roles: Annotated[
        str | None, typer.Option(help="The policy that says roles, k and gates.")
    ] = None,
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a release lost and what it can still leak, whoever made it.

    Give a policy, whose input and output are the pair, or --original, --release and --roles. A
    pair is complete when a key or the private pairing of anonymize says which rows belong
    together; without it the audit measures what needs no pairing, and says what it left out.
    A gate that is not passed: exit code 3.
    """
    call.json = as_json
    chosen = roles or policy
    if chosen is None or (roles is not None and policy is not None):
        raise InputError(Problem("POLICY", "give a policy, or --original, --release and --roles"))
    checked = read_policy(chosen, changes)
    problems = []
    if original is None and checked.input is None:
        problems.append(Problem("--original", "is required: the policy has no input"))
    if release is None and checked.output is None:
        problems.append(Problem("--release", "is required: the policy has no output"))
    if problems:
        raise InputError(problems)
    from sparkanon.engine import audit as auditing
    from sparkanon.engine.audit.run import FailedAuditError

    given = [place for place in (original, release) if place is not None]
    delta = any(map(may_be_delta, given))
    progress = terminal.Progress()
    with running_spark(checked, progress, delta=delta) as spark:
        try:
            done = auditing.audit(
                _table(spark, original, checked, "--original"),
                _table(spark, release, checked, "--release"),
                checked,
                key=key,
                run_id=call.run_id,
                watcher=progress,
                spark=spark,
            )
        except FailedAuditError as failed:
            _show(failed.audit, as_json)
            raise
    _show(done, as_json)


def _table(
    spark: SparkSession, place: str | None, policy: Policy, option: str
) -> DataFrame | None:
    if place is None:
        return None
    from sparkanon.engine.table import tables
    from sparkanon.policy.model import Source

    try:
        return tables.read(
            spark, Source.model_validate(guessed_source(place, spark=spark)), policy
        ).data
    except InputError as error:
        raise InputError([Problem(option, p.message) for p in error.problems]) from None


def _show(done: Audit, as_json: bool) -> None:
    if as_json:
        terminal.print_json(_json(done))
        return
    colour = "green" if done.status == "ok" else "red"
    verdict = "passed" if done.status == "ok" else "refused by a gate"
    out.print(f"\n[bold {colour}]{verdict}[/]  run {done.run_id}")
    grid = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("measure", "value", "95 % or bounds"):
        grid.add_column(heading, justify="left" if heading == "measure" else "right")
    for m in done.measures:
        if m.column is None and m.value is not None:
            ends = f"{m.low:.4g} - {m.high:.4g}" if m.low is not None else ""
            grid.add_row(m.measure, f"{m.value:.6g}", ends)
    out.print(grid)
    gates = Table.grid(padding=(0, 2))
    for gate in done.gates:
        mark = "[green]passed[/]" if gate.passed else "[bold red]failed[/]"
        gates.add_row(f"gate {gate.gate}", gate.measured, mark)
    out.print(gates)
    for line in _about_columns(done):
        out.print(line)
    for name, why in sorted(done.left_out.items()):
        out.print(f"[dim]left out: {escape(name)}: {escape(why)}[/]")
    if done.folder is not None:
        out.print(f"report: [bold]sparkanon report {escape(str(done.folder))}[/]")


def _about_columns(done: Audit) -> list[str]:
    """What a person should know about the released columns, as markup."""
    held = done.columns
    lines = [f"[bold red]identifier:[/] {escape(name)}" for name in held.identifiers]
    lines += [
        f"[yellow]copy:[/] {escape(copy.column)} {_same(copy.column, copy.of, copy.how)}"
        for copy in held.copies
    ]
    names = ", ".join(map(escape, held.unlisted))
    return lines + ([f"[yellow]not in the policy:[/] {names}"] if names else [])


def _same(column: str, of: str, how: str) -> str:
    other = "the original" if of == column else escape(of)
    return f"equals {other} {how}" if how == "row by row" else f"{how}, as {other}"


def _json(done: Audit) -> dict[str, Any]:
    from dataclasses import asdict

    content: dict[str, Any] = {
        "status": done.status,
        "run_id": done.run_id,
        "measures": [m.to_dict() for m in done.measures],
        "gates": [asdict(gate) for gate in done.gates],
        "columns": done.columns.to_dict(),
        "left_out": [{"measure": n, "why": w} for n, w in sorted(done.left_out.items())],
        "report": str(done.folder / "report.json") if done.folder is not None else None,
    }
    if done.status == "refused":
        failed = [gate for gate in done.gates if not gate.passed]
        content["errors"] = [
            {"path": f"gates.{g.gate}", "message": done.failure(g)} for g in failed
        ]
    return content


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run, runs/RUN_ID.")],
    sweep: Annotated[
        str | None, typer.Option(help="Folder of a sweep, whose map is to be in the report.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the report of a run: one HTML file that needs no network.

    anonymize, audit and sweep leave their numbers in the folder of the run. The report holds no
    cell and no count below k.
    """
    call.json = as_json
    from sparkanon.report import write_report

    if any(map(is_elsewhere, filter(None, (run, sweep)))):
        path = _report_elsewhere(run, sweep)
    else:
        path = str(write_report(Path(run), None if sweep is None else Path(sweep)))
    if as_json:
        terminal.print_json({"status": "ok", "run_id": Path(run).name, "report": path})
    else:
        out.print(f"[green]✓[/] report: [bold]{escape(path)}[/]")


def _report_elsewhere(run: str, sweep: str | None) -> str:
    """The same on stores that Spark reaches."""
    from sparkanon.engine.session.hadoop import locate
    from sparkanon.report.files import LONGEST, NUMBERS, drawn, readable

    with running_spark(None, terminal.Progress()) as spark:

        def numbers(folder: str, where: str) -> tuple[str, str]:
            place = locate(spark, folder, where) / NUMBERS
            with readable(place):
                return str(place), place.start(LONGEST + 1)

        given = numbers(run, "RUN"), None if sweep is None else numbers(sweep, "--sweep")
        page = locate(spark, run, "RUN") / "report.html"
        try:
            page.replace_text(drawn(*given), shown=True)
        except OSError as error:
            raise InputError(Problem(str(page), f"cannot be written: {error.strerror}")) from None
    return str(page)
