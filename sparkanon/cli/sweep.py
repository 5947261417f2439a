"""sparkanon sweep: the risk-utility map, so that a method is chosen by numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from sparkanon.cli import terminal
from sparkanon.cli.running import (
    AsJson,
    Changes,
    PolicyPath,
    call,
    note_seed,
    read_policy,
    running_spark,
)
from sparkanon.cli.terminal import escape, out
from sparkanon.errors import InputError, Problem, counted
from sparkanon.policy import Policy
from sparkanon.policy.checks import same_place
from sparkanon.policy.grid import make_cells, read_grid

if TYPE_CHECKING:
    from sparkanon.engine.sweep.outcomes import Outcome, Sweep


def sweep(
    policy: PolicyPath,
    k: Annotated[str | None, typer.Option("--k", metavar="3,5,10", help="Values of k.")] = None,
    grouping: Annotated[
        str | None, typer.Option(metavar="mdav,refined", help="Names, see sparkanon methods.")
    ] = None,
    space: Annotated[str | None, typer.Option(metavar="euclidean,gower")] = None,
    release: Annotated[str | None, typer.Option(metavar="centroid,permute")] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=V1,V2", help="Any other parameter: method.grouping.passes=2,6."
        ),
    ] = None,
    to: Annotated[str, typer.Option("--out", help="Folder for the results.")] = "sweep",
    x: Annotated[
        str, typer.Option("--x", help="The measure of loss, taken if the policy does not.")
    ] = "il",
    y: Annotated[
        str | None,
        typer.Option(
            "--y",
            help="The measure of risk, taken if the policy does not. Not said: "
            "linkage_masked_to_original where the policy takes it, else 1/min_class_size.",
            show_default=False,
        ),
    ] = None,
    changes: Changes = None,
    as_json: AsJson = False,
) -> int:
    """Compare methods, values of k and parameters on one table: risk against loss.

    Every combination is a dry run on the table, which is read once; nothing is published. Start
    it again and only what is missing runs. A parameter is varied for the methods that have it.

    In the folder: sweep.json, sweep.csv, sweep.svg; its folder cells/ remembers what is done.
    """
    call.json = as_json
    checked = read_policy(policy, changes)
    from sparkanon.engine.sweep import sweep as engine

    engine.check_axes(x, y)
    checked = engine.asking_for(checked, x, y)
    options = {"k": k, "method.grouping": grouping, "method.space": space}
    options["method.release"] = release
    cells = make_cells(checked, read_grid(options, vary or ()))
    _check_places(checked, to)
    progress = terminal.Progress()
    with running_spark(checked, progress) as spark:
        note_seed(checked)
        result = engine.sweep(
            None, checked, cells, to, x=x, y=y, watcher=progress, run_id=call.run_id, spark=spark
        )
    problems = _problems(result) if result.status == "error" else []
    if as_json:
        errors = {"errors": [{"path": p.path, "message": p.message} for p in problems]}
        content = result.to_dict() | {"out": to} | (errors if problems else {})
        terminal.print_json(content)
    else:
        _show(result, to)
        if problems:
            terminal.show_problems("not one cell could be measured:", problems)
    return InputError.exit_code if problems else 0


def _check_places(policy: Policy, to: str) -> None:
    if policy.input is None:
        raise InputError(Problem("input", "is required on the command line"))
    for name, place in (("input", policy.input), ("output", policy.output)):
        if place is not None and place.path and same_place(place.path, to):
            raise InputError(Problem("--out", f"is the {name}, or lies inside it, or holds it"))


def _problems(result: Sweep) -> list[Problem]:
    return list(dict.fromkeys(p for outcome in result.outcomes for p in outcome.problems))


def _show(result: Sweep, to: str) -> None:
    """The end of a sweep, for a person."""
    grid = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("cell", result.x, result.y, "Pareto", "seconds", ""):
        numeric = heading in (result.x, result.y, "seconds")
        side: Literal["left", "right"] = "right" if numeric else "left"
        grid.add_column(escape(heading), justify=side, no_wrap=heading != "", overflow="fold")
    for outcome, front in zip(result.outcomes, result.front, strict=True):
        grid.add_row(
            escape(outcome.cell.label),
            _number(outcome.value(result.x)),
            _number(outcome.value(result.y)),
            "[bold green]●[/]" if front else "",
            "-" if outcome.seconds is None else f"{outcome.seconds:.1f}",
            _remark(outcome),
        )
    ran = sum(not outcome.kept for outcome in result.outcomes)
    cells = counted(len(result.outcomes), "cell")
    out.print(f"\n[bold]{cells}[/], {ran} run now  run {result.run_id}")
    out.print(grid)
    if all(point is None for point in result.points):
        out.print(f"[yellow]no cell has both {result.x} and {result.y}[/]")
    files = ", ".join(f"sweep.{kind}" for kind in ("svg", "csv", "json"))
    out.print(f"\nmap and table: [bold]{escape(to)}[/]/ ({files})")


def _remark(outcome: Outcome) -> str:
    if outcome.status == "error":
        return f"[red]error[/] {escape(str(outcome.problems[0]))}"
    gates = (escape(problem.path) for problem in outcome.problems)
    return " ".join(["[yellow]refused[/]", *gates]) if outcome.status == "refused" else ""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
