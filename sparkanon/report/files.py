"""The report of a run folder: report.json in, report.html out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparkanon.atomic import write_atomically
from sparkanon.errors import InputError, Problem
from sparkanon.report.render import render
from sparkanon.report.run_report import REPORT_VERSION

NUMBERS = "report.json"
LONGEST = 50_000_000  # characters
_NEEDED = ("run_id", "status", "measures")


def write_report(run_folder: Path, sweep_folder: Path | None = None) -> Path:
    """Draw `report.html` from the `report.json` of a run; readers see the old page or the new.

    With the folder of a sweep its map of risk and loss is part of the page.
    """
    page = run_folder / "report.html"
    sweep = None if sweep_folder is None else sweep_folder / NUMBERS
    text = drawn(
        (run_folder / NUMBERS, _read(run_folder / NUMBERS)),
        None if sweep is None else (sweep, _read(sweep)),
    )
    try:
        write_atomically(page, text, shown=True)
    except OSError as error:
        raise InputError(Problem(str(page), f"cannot be written: {error.strerror}")) from None
    return page


def drawn(run: tuple[object, str], sweep: tuple[object, str] | None = None) -> str:
    """The page, from the path and the text of a run's numbers, and from those of a sweep."""
    content = _parsed(*run)
    if sweep is not None:
        content = content | {"sweep": _parsed(*sweep).get("sweep")}
    return render(content)


def _read(path: Path) -> str:
    with readable(path), path.open(encoding="utf-8") as file:
        return file.read(LONGEST + 1)


@contextlib.contextmanager
def readable(path: object) -> Iterator[None]:
    """Turn errors of reading these numbers into an error in words."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(Problem(str(path), "is missing; is this the folder of a run?")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror}")) from None
    except UnicodeDecodeError:
        raise InputError(Problem(str(path), "is not JSON")) from None


def _parsed(path: object, text: str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise InputError(Problem(str(path), "is too large for the numbers of a run"))
    try:
        run = json.loads(text)
    except (ValueError, RecursionError):  # the message could quote what stands there
        raise InputError(Problem(str(path), "is not JSON")) from None
    if not isinstance(run, dict):
        raise InputError(Problem(str(path), "must hold one JSON object"))
    if run.get("report_version") != REPORT_VERSION:
        text = (
            f"is of another version of sparkanon; this one reads report_version {REPORT_VERSION}"
        )
        raise InputError(Problem(str(path), text))
    missing = [Problem(str(path), f"has no {key}") for key in _NEEDED if key not in run]
    if missing:
        raise InputError(missing)
    return run
