"""The commands. Spark is imported by those that need it, when they need it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.table import Table

from sparkanon.attacks import ATTACKS
from sparkanon.catalogue import CATALOGUE
from sparkanon.cli import terminal
from sparkanon.cli.auditing import audit, report
from sparkanon.cli.reproduce import reproduce
from sparkanon.cli.running import (
    AsJson,
    Changes,
    PolicyPath,
    guessed_format,
    guessed_source,
    may_be_delta,
    read_policy,
)
from sparkanon.cli.running import call as _call
from sparkanon.cli.running import note_seed as _note_seed
from sparkanon.cli.running import running_spark as _spark
from sparkanon.cli.sweep import sweep
from sparkanon.cli.terminal import err, escape, out
from sparkanon.errors import GateError, InputError, Problem, SparkanonError, counted
from sparkanon.groupings import GROUPINGS
from sparkanon.measures import MEASURES
from sparkanon.policy import Policy, schema_text
from sparkanon.raised import raised_at
from sparkanon.registry import Registry
from sparkanon.releases import RELEASES
from sparkanon.report.reference import measures_page
from sparkanon.spaces import SPACES
from sparkanon.urls import is_elsewhere

app = typer.Typer(
    name="sparkanon",
    help="""Turn a table about people into a table that can be shared, at data-lake scale.

    A typical first day: **sample-data** (or a table of yours), **profile** it to get a
    starter policy, **validate** the policy, **anonymize**.

    Exit codes: 0 done; 1 failed; 2 the policy or the table is wrong; 3 a gate refused.

    Messages name columns and counts, never a cell.""",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.command()
def anonymize(
    policy: PolicyPath,
    changes: Changes = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do everything, measure it, publish nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish a k-anonymous version of a table, verified before anyone can read it.

    The unverified table is staged in a private folder, read back and counted; only when k holds
    and every gate is passed does it replace the old release, in one step.
    """
    _call.json = as_json
    checked = read_policy(policy, changes)
    if checked.input is None or checked.output is None:
        missing = [name for name in ("input", "output") if getattr(checked, name) is None]
        raise InputError([Problem(name, "is required on the command line") for name in missing])
    from sparkanon.engine import pipeline

    progress = terminal.Progress()
    with _spark(checked, progress) as spark:
        _note_seed(checked)
        try:
            release = pipeline.anonymize(
                None, checked, dry_run=dry_run, watcher=progress, run_id=_call.run_id, spark=spark
            )
        except pipeline.RefusedError as refused:
            release = refused.release
            _show(release.manifest, checked, release.manifest_path, as_json)
            raise
    _show(release.manifest, checked, release.manifest_path, as_json)


def _show(manifest: dict[str, Any], policy: Policy, path: object, as_json: bool) -> None:
    where = str(path) if path is not None else None
    output = policy.output.place if policy.output is not None else None
    if not as_json:
        terminal.show_release(manifest, output, where)
        return
    keys = ("status", "run_id", "rows_in", "rows_out", "k", "min_class_size", "measures", "gates")
    content = {key: manifest[key] for key in keys}
    content |= {"output": output, "manifest": where, "seconds": manifest["seconds"]}
    if manifest["status"] == "refused":
        content["errors"] = [
            {"path": f"gates.{g['gate']}", "message": "the limit is not kept"}
            for g in manifest["gates"]
            if not g["passed"]
        ]
    terminal.print_json(content)


@app.command()
def validate(policy: PolicyPath, changes: Changes = None, as_json: AsJson = False) -> None:
    """Find every mistake in a policy at once. Needs no table, and Spark only to read a URL."""
    _call.json = as_json
    checked = read_policy(policy, changes)
    if as_json:
        terminal.print_json({"status": "ok", "run_id": None, "policy_hash": checked.digest()})
        return
    out.print(f"[green]✓[/] {escape(policy)} is a valid policy")
    method, groups = checked.method, checked.groups
    made = "" if groups is None else f"k = {groups.k}, grouping {groups.grouping.key}, "
    out.print(
        f"  {made}release {method.release.key}, space {method.space.key}, "
        f"over {counted(len(checked.quasi_identifiers), 'quasi-identifier')}"
    )
    out.print(f"  {escape(checked.promise.text)}")


@app.command()
def methods(
    as_json: AsJson = False,
    page: Annotated[
        bool, typer.Option("--page", help="Print docs/measures.md, made from the measures.")
    ] = False,
) -> None:
    """What can be chosen on each axis of a policy, with parameters and sources."""
    if page:
        typer.echo(measures_page(), nl=False)
        return
    axes: dict[str, Registry[Any]] = {
        "space": SPACES,
        "grouping": GROUPINGS,
        "release": RELEASES,
        "measure": MEASURES,
        "attack": ATTACKS,
    }
    if as_json:
        described: dict[str, Any] = {axis: reg.describe() for axis, reg in axes.items()}
        for entry in described["measure"]:
            about = CATALOGUE[entry["key"]]
            parts = ("family", "unit", "better", "formula", "gates")
            entry |= {part: getattr(about, part) for part in parts}
        terminal.print_json({"status": "ok", "run_id": None} | described)
        return
    for axis, registry in axes.items():
        table = Table(
            title=_WHERE.get(axis, f"method.{axis}"),
            title_justify="left",
            box=None,
            padding=(0, 2, 0, 0),
        )
        for heading in ("key", "what it does", "parameters", "source"):
            table.add_column(heading, overflow="fold")
        for item in registry.describe():
            parameters = "\n".join(_spoken(n, p) for n, p in item["parameters"].items())
            table.add_row(item["key"], item["title"], parameters or "-", item["source"])
        out.print(table)
        out.print()


def _spoken(name: str, schema: dict[str, Any]) -> str:
    limits = [f"{word} {schema[key]}" for key, word in _LIMITS.items() if key in schema]
    default = f" = {schema['default']}" if "default" in schema else ""
    description = f": {schema['description']}" if "description" in schema else ""
    return f"{name}{default}{' (' + ', '.join(limits) + ')' if limits else ''}{description}"


_WHERE = {"measure": "gates, audit.take and audit.measures", "attack": "audit.attacks"}
_LIMITS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}


@app.command()
def profile(
    table: Annotated[str, typer.Argument(help="A folder or file, or a catalog name.")],
    format_: Annotated[
        str | None, typer.Option("--format", help="csv, parquet, delta or table; else guessed.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV file names the columns; else guessed.",
            show_default=False,
        ),
    ] = None,
    sep: Annotated[
        str | None, typer.Option(help="What stands between the cells of a CSV file: ';'.")
    ] = None,
    k: Annotated[int, typer.Option(min=2, help="k of the starter policy.")] = 5,
    to: Annotated[
        Path | None, typer.Option("--out", help="Write the starter policy into this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Types, nulls, distinctness, a suggested role for every column, and a starter policy.

    Shows shares and counts, never a cell. A CSV file whose first line may be data is not shown
    at all: say --no-header, or --header.
    """
    _call.json = as_json
    if to is not None and to.exists():
        raise InputError(Problem("--out", f"{to} exists already"))
    from sparkanon.engine.table import headers, tables
    from sparkanon.engine.table import profile as profiling
    from sparkanon.policy.model import Source

    if format_ not in (None, "csv", "parquet", "delta", "table"):
        raise InputError(Problem("--format", "must be csv, parquet, delta or table"))
    kind = format_ or (None if is_elsewhere(table) else guessed_format(table))
    delta = may_be_delta(table) if kind is None else kind == "delta"
    progress = terminal.Progress()
    with _spark(None, progress, delta=delta) as spark:
        kind = kind or guessed_format(table, spark)
        for option, value in (("--header", header), ("--sep", sep)):
            if value is not None and kind != "csv":
                raise InputError(Problem(option, "is for CSV files"))
        source = guessed_source(table, kind)
        chosen: dict[str, str | bool] = {"header": False} if header is False else {}
        chosen |= {"sep": sep} if sep is not None else {}
        if chosen:
            source["options"] = source.get("options", {}) | chosen
        data = tables.read(spark, Source.model_validate(source)).data
        if kind == "csv" and header is None:
            headers.check_header(data, table)
        found = profiling.profile(data)
    text = profiling.starter_policy(found, source, k)
    if to is not None:
        to.write_text(text, encoding="utf-8")
    if as_json:
        content = {"status": "ok", "run_id": _call.run_id} | found.to_dict() | {"policy": text}
        terminal.print_json(content)
        return
    _show_profile(found)
    if to is not None:
        out.print(f"\nstarter policy: [bold]{escape(str(to))}[/]")
    else:
        out.print("\n[dim]# starter policy, read it before you run it[/]")
        out.print(text, markup=False)


def _show_profile(found: Any) -> None:
    grid = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("column", "type", "nulls", "distinct", "most frequent", "role"):
        numeric = heading in ("nulls", "distinct", "most frequent")
        grid.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for column in found.columns:
        grid.add_row(
            escape(column.name),
            escape(column.type),
            _percent(column.null_share),
            "-" if column.distinct is None else f"{column.distinct:,}",
            _percent(column.top_share),
            column.role,
        )
    out.print(f"[bold]{counted(found.rows, 'row')}[/]")
    out.print(grid)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


@app.command("sample-data")
def sample_data(
    to: Annotated[str | None, typer.Option("--out", help="Where to write the table.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many people.")] = 100_000,
    format_: Annotated[str, typer.Option("--format", help="parquet, csv or delta.")] = "parquet",
    seed: Annotated[int, typer.Option(help="Another seed, other people.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Make invented people: correlated, skewed, mixed types, point masses, some nulls.

    The same rows and seed give the same people on any machine. Without --out: the columns.
    """
    _call.json = as_json
    from sparkanon.engine.table import sample_data as made

    if to is None:
        grid = Table(box=None, padding=(0, 2, 0, 0))
        for heading in ("column", "type", "role", "what it is"):
            grid.add_column(heading, overflow="fold")
        for column in made.COLUMNS:
            grid.add_row(column.name, column.type, column.role, column.text)
        out.print(grid)
        return
    if format_ not in ("parquet", "csv", "delta"):
        raise InputError(Problem("--format", "must be parquet, csv or delta"))
    from sparkanon.engine.session.hadoop import locate

    progress = terminal.Progress()
    with _spark(None, progress, delta=format_ == "delta") as spark:
        place = locate(spark, to, "--out")
        if place.is_there():
            raise InputError(Problem("--out", f"{to} exists already"))
        writer = made.people(spark, rows, seed).write
        writer = writer.option("header", True) if format_ == "csv" else writer
        writer.format(format_).save(place.url)
    if as_json:
        terminal.print_json({"status": "ok", "run_id": _call.run_id, "rows": rows, "output": to})
    else:
        out.print(f"[green]✓[/] {counted(rows, 'person', 'people')} in [bold]{escape(to)}[/]")


@app.command()
def schema() -> None:
    """Print the JSON schema of a policy, for editors that complete and check YAML."""
    sys.stdout.write(schema_text())


app.command("audit")(audit)
app.command("report")(report)
app.command("sweep")(sweep)
app.command("reproduce")(reproduce)

# typer brings a click of its own in some versions and uses the installed one in others
_UsageError: Any = typer.BadParameter.__base__


def _terminated(number: int, _: Any) -> NoReturn:
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with the promised exit code."""
    signal.signal(signal.SIGTERM, _terminated)  # so that staging is removed then, too
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run a command; its exit code."""
    _call.__init__()  # type: ignore[misc]
    # spark-submit puts a Python program's stderr on stdout, where the object must stand alone
    err.quiet = "--json" in arguments and "PYSPARK_GATEWAY_PORT" in os.environ
    try:
        code = app(arguments, prog_name="sparkanon", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except _UsageError as error:
        if "--json" in arguments:
            _fail(InputError(error.format_message()), "error", "")
        else:
            error.show()
        return 2
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        err.print("interrupted; nothing was published")
        return 130
    except GateError as error:
        return _refused(error)
    except SparkanonError as error:
        return _fail(error, "error", "this cannot run yet:" if error.exit_code == 2 else "failed:")
    except Exception as error:
        return _fail(_unexpected(error), "error", "unexpected error:")


def _refused(error: GateError) -> int:
    from sparkanon.engine.audit.run import FailedAuditError
    from sparkanon.engine.pipeline import RefusedError

    if isinstance(error, RefusedError | FailedAuditError) and _call.json:
        return error.exit_code  # the object with the measures is on stdout already
    if isinstance(error, FailedAuditError):
        return _fail(error, "refused", "the release does not keep its gates:")
    return _fail(error, "refused", "refused, the old release (if any) still stands:")


def _fail(error: SparkanonError, status: str, headline: str) -> int:
    if _call.json or not headline:
        terminal.print_json(terminal.error_json(error, status, _call.run_id))
    else:
        terminal.show_problems(headline, error.problems)
    return error.exit_code


def _unexpected(error: Exception) -> SparkanonError:
    """Type, condition and place: the text of a foreign exception may hold a cell."""
    log = f"; Spark's own log: {_call.log}" if _call.log and _call.log.exists() else ""
    return SparkanonError(f"{raised_at(error)}{log}")
