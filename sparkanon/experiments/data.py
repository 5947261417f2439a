"""The papers' data sets, in a folder of the user's: they are not ours to ship."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sparkanon.errors import InputError, Problem


def check_files(data: Path, names: Iterable[str]) -> None:
    """All missing files in one error: an experiment runs for minutes before it needs the last."""
    missing = [name for name in names if not (data / name).is_file()]
    if missing:
        raise InputError([Problem("--data", f"there is no {name} in {data}") for name in missing])
