"""What commands that run Spark share: their common options, and a session that is quiet."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparkanon.cli import terminal
from sparkanon.cli.terminal import err
from sparkanon.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for machines.")]
PolicyPath = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change the policy, e.g. --set k=10."),
]


@dataclass
class Call:
    """What an error handler has to know about the command that failed."""

    json: bool = False
    run_id: str | None = None
    log: Path | None = None


call = Call()


def guessed_format(table: str) -> str:
    """The format of a table that is given by its place alone."""
    path = Path(table)
    if (path / "_delta_log").is_dir():
        return "delta"
    if path.suffix.lower() in (".csv", ".tsv", ".gz") or any(path.glob("*.csv")):
        return "csv"
    looks_like_path = path.exists() or "/" in table or path.suffix == ".parquet"
    return "parquet" if looks_like_path else "table"


def guessed_source(table: str, kind: str | None = None) -> dict[str, Any]:
    """A policy's `input` for such a table."""
    kind = kind or guessed_format(table)
    source: dict[str, Any] = {"format": kind, "name" if kind == "table" else "path": table}
    if kind == "csv" and ".tsv" in (suffix.lower() for suffix in Path(table).suffixes):
        source["options"] = {"sep": "\t"}
    return source


def note_seed(policy: Policy) -> None:
    from sparkanon.policy import read_seed

    if policy.seed is not None and policy.seed.env and read_seed(policy.seed).drawn:
        err.print(
            f"[yellow]note:[/] {policy.seed.env} is not set, so a random seed was drawn; "
            "this run cannot be repeated"
        )


@contextlib.contextmanager
def running_spark(
    policy: Policy | None,
    progress: terminal.Progress,
    *,
    delta: bool = False,
    conf: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A session that is quiet on the terminal; kernels load while it starts."""
    from sparkanon.engine.runs.ids import new_run_id
    from sparkanon.engine.runs.steps import Steps
    from sparkanon.engine.session import session

    if policy is not None:
        threading.Thread(target=_warm, args=(policy,), daemon=True).start()
        places = (policy.input, policy.output, policy.audit.table)
        delta = delta or any(
            place is not None and "delta" in (place.format, getattr(place, "using", None))
            for place in places
        )
    call.run_id = new_run_id()
    call.log = session.log_file(call.run_id)
    try:
        with Steps(progress).step("start"):
            spark = session.get_session(delta=delta, log=call.log, conf=conf)
        yield spark
    finally:
        progress.stop()


def _warm(policy: Policy) -> None:
    from sparkanon.engine.session.warm import warm

    warm(policy.method.grouping, policy.method.release)
