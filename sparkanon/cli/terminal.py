"""What a person sees: a line for each step, errors that say what to change, and a summary."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich import markup
from rich.console import Console
from rich.status import Status

from sparkanon.errors import Problem, SparkanonError, printable, shown

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

_STEPS = {
    "start": "starting Spark",
    "read": "reading the table",
    "compile": "compiling on executors",
    "fit": "measuring its columns",
    "cut": "cutting it into blocks",
    "mask": "grouping and masking",
    "verify": "verifying what was written",
    "publish": "publishing",
    "pair": "pairing the two tables",
    "contents": "looking at what is released",
    "classes": "counting classes",
    "loss": "measuring information loss",
    "subsets": "counting unique records",
    "attributes": "looking at sensitive columns",
    "linkage": "linking records",
}


def escape(text: str) -> str:
    """A text that somebody else wrote, to be shown as it is and obeyed by nothing."""
    return markup.escape(printable(text))


class Progress:
    """A watcher that spins on a terminal and prints plain lines elsewhere; always on stderr."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def started(self, step: str) -> None:
        if err.is_terminal:
            self._status = err.status(f"{_STEPS.get(step, escape(step))} ...")
            self._status.start()

    def done(self, step: str, seconds: float, note: str) -> None:
        self.stop()
        mark = "[green]✓[/] " if err.is_terminal else ""
        tail = f"  [dim]{escape(note)}[/]" if note else ""
        err.print(f"{mark}{_STEPS.get(step, escape(step)):<28}{seconds:7.1f} s{tail}")

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def print_json(content: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def show_problems(headline: str, problems: Sequence[Problem]) -> None:
    err.print(f"[bold red]{escape(headline)}[/]")
    for problem in shown(problems):
        where = f"[bold]{escape(problem.path)}[/]: " if problem.path else ""
        err.print(f"  {where}{escape(problem.message)}")


def error_json(error: SparkanonError, status: str, run_id: str | None) -> dict[str, Any]:
    errors = [{"path": p.path, "message": p.message} for p in shown(error.problems)]
    return {"status": status, "run_id": run_id, "errors": errors}


def show_release(
    manifest: Mapping[str, Any], output: str | None, manifest_path: str | None
) -> None:
    """The end of a run, for a person."""
    status = str(manifest["status"])
    colour = {"published": "green", "dry_run": "cyan"}.get(status, "red")
    title = {"dry_run": "dry run, nothing was published"}.get(status, status)
    out.print(f"\n[bold {colour}]{title}[/]  run {manifest['run_id']}")
    lines = list[tuple[str, str]]()
    total = {m["measure"]: m["value"] for m in manifest["measures"] if m["column"] is None}
    dropped = manifest["rows_in"] - manifest["rows_out"]
    rows = f"{manifest['rows_out']:,}" + (f" ({dropped:,} dropped for nulls)" if dropped else "")
    lines.append(("rows", rows))
    promise, least = manifest["promise"], manifest["min_class_size"]
    asked = "none" if promise["k"] is None else promise["k"]
    classes = manifest["class_sizes"]["classes"]
    lines.append(("k", f"{asked} asked, smallest {promise['counted']} {least:,} of {classes:,}"))
    lines.append(("promise", escape(promise["text"])))
    lines.append(("information loss", f"{total['il']:.2f} % of the variance"))
    worst = [m for m in manifest["measures"] if m["measure"] == "il" and m["column"] is not None]
    worst = sorted(worst, key=lambda m: -m["value"])[:3]
    if worst:
        parts = (f"{escape(m['column'])} {m['value']:.1f} %" for m in worst)
        lines.append(("most lost in", ", ".join(parts)))
    for gate in manifest["gates"]:
        value = "not measured" if gate["value"] is None else f"{gate['value']:.6g}"
        if gate["compared"] not in (None, gate["value"]):
            value += f" in a sample, perhaps {gate['compared']:.6g}"
        verdict = "[green]passed[/]" if gate["passed"] else "[bold red]failed[/]"
        lines.append((f"gate {gate['gate']}", f"{value} (limit {gate['limit']:g}) {verdict}"))
    lines.append(("time", f"{sum(manifest['seconds'].values()):.1f} s"))
    if output and status == "published":
        lines.append(("release", f"[bold]{escape(output)}[/]"))
    if manifest_path:
        lines.append(("manifest", escape(manifest_path)))
    width = max(len(name) for name, _ in lines)
    for name, text in lines:  # not a table: that would cut off a long path
        out.print(f"{name:<{width}}  {text}")
