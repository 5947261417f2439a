"""The papers' data sets. They are not ours to commit: a folder has them, or tests skip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_file(name: str) -> Path:
    """In `SPARKANON_DATA` or `../shared/data`; else the test skips (in CI it fails: no_skips)."""
    folder = Path(os.environ.get("SPARKANON_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set SPARKANON_DATA to their folder")
    if not (folder / name).is_file():
        pytest.skip(f"no data set {name} in {folder}")
    return folder / name
