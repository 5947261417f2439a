"""The papers' data sets, which the user has in a folder, because we may not ship them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sparkanon.errors import InputError, Problem


def check_files(data: Path, names: Iterable[str]) -> None:
    """Name all missing files in one error, before an experiment runs for minutes."""
    missing = [name for name in names if not (data / name).is_file()]
    if missing:
        raise InputError([Problem("--data", f"there is no {name} in {data}") for name in missing])
