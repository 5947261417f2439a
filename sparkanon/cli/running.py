"""What commands that run Spark share: their common options, and a session that is quiet."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparkanon.cli import terminal
from sparkanon.cli.terminal import err
from sparkanon.errors import PolicyError
from sparkanon.policy import Policy, load_policy, make_policy
from sparkanon.policy.loading import changed, parse
from sparkanon.policy.strict_yaml import LONGEST
from sparkanon.urls import is_elsewhere, without_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sparkanon.engine.stores.place import Place

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for machines.")]
PolicyPath = Annotated[
    str, typer.Argument(metavar="POLICY", help="The policy, a YAML file or its URL.")
]
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


def read_policy(path: str, changes: Sequence[str] | None) -> Policy:
    """The policy of a file, or of a URL, for which a session is started.

    Whether the policy asks for Delta shows only then, so a session of our own has it.
    """
    if not is_elsewhere(path):
        return load_policy(without_file(path), changes or ())
    from sparkanon.engine.session.hadoop import locate

    progress = terminal.Progress()
    try:
        place = locate(_session(progress, delta=not _submitted()), path, "POLICY")
        text = place.start(LONGEST + 1)
    except OSError as error:
        raise PolicyError(f"cannot read the policy {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PolicyError(f"cannot read the policy {path}: it is not UTF-8 text") from None
    finally:
        progress.stop()
    return make_policy(changed(parse(text), changes or ()))


def _submitted() -> bool:
    """Whether spark-submit started this program, so that the session is the cluster's."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def may_be_delta(table: str) -> bool:
    """Whether a session has to be started with Delta for this table, as far as is known yet."""
    return not _submitted() if is_elsewhere(table) else guessed_format(table) == "delta"


def guessed_format(table: str, spark: SparkSession | None = None) -> str:
    """The format of a table that is given by its place alone; elsewhere it takes a session."""
    path = Path(without_file(table))
    if spark is None:
        has_log, names = (path / "_delta_log").is_dir(), _names(path)
    else:
        from sparkanon.engine.session.hadoop import locate

        place = locate(spark, table, "table")
        has_log, names = (place / "_delta_log").is_dir(), _names(place)
    if has_log:
        return "delta"
    if path.suffix.lower() in (".csv", ".tsv", ".gz") or any(n.endswith(".csv") for n in names):
        return "csv"
    looks_like_path = names or path.exists() or "/" in table or path.suffix == ".parquet"
    return "parquet" if looks_like_path else "table"


def _names(folder: Place | Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir()] if folder.is_dir() else []
    except OSError:  # which shows again when the table is read, and in words
        return []


def guessed_source(
    table: str, kind: str | None = None, spark: SparkSession | None = None
) -> dict[str, Any]:
    """A policy's `input` for such a table."""
    kind = kind or guessed_format(table, spark)
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
    policy: Policy | None, progress: terminal.Progress, *, delta: bool = False
) -> Iterator[SparkSession]:
    """A session that is quiet on the terminal; kernels load while it starts."""
    if policy is not None:
        threading.Thread(target=_warm, args=(policy,), daemon=True).start()
        places = (policy.input, policy.output, policy.audit.table)
        delta = delta or any(
            place is not None and "delta" in (place.format, getattr(place, "using", None))
            for place in places
        )
    try:
        yield _session(progress, delta=delta)
    finally:
        progress.stop()


def _session(progress: terminal.Progress, *, delta: bool) -> SparkSession:
    from sparkanon.engine.runs.ids import new_run_id
    from sparkanon.engine.runs.steps import Steps
    from sparkanon.engine.session import session

    call.run_id = call.run_id or new_run_id()
    call.log = session.log_file(call.run_id)
    with Steps(progress).step("start"):
        return session.get_session(delta=delta, log=call.log)


def _warm(policy: Policy) -> None:
    from sparkanon.engine.session.warm import warm

    warm(policy.method.grouping, policy.method.release)
