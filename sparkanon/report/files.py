"""The report of a run folder: report.json in, report.html out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparkanon.atomic import write_atomically
from sparkanon.errors import InputError, Problem
from sparkanon.report.render import render
from sparkanon.report.run_report import REPORT_VERSION

_LONGEST = 50_000_000  # characters
_NEEDED = ("run_id", "status", "measures")


def write_report(run_folder: Path, sweep_folder: Path | None = None) -> Path:
    """Draw `report.html` from the `report.json` of a run; readers see the old page or the new.

    With the folder of a sweep its map of risk and loss is part of the page.
    """
    page = Path(run_folder) / "report.html"
    run = _read(Path(run_folder) / "report.json")
    if sweep_folder is not None:
        run = run | {"sweep": _read(Path(sweep_folder) / "report.json").get("sweep")}
    text = render(run)
    try:
        write_atomically(page, text, shown=True)
    except OSError as error:
        raise InputError(Problem(str(page), f"cannot be written: {error.strerror}")) from None
    return page


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LONGEST + 1)
        if len(text) > _LONGEST:
            raise InputError(Problem(str(path), "is too large for the numbers of a run"))
        run = json.loads(text)
    except FileNotFoundError:
        raise InputError(Problem(str(path), "is missing; is this the folder of a run?")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror}")) from None
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
