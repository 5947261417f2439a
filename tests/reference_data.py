"""The papers' data sets. They are not ours to commit: a folder has them, or tests skip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """`SPARKANON_DATA`, or `../shared/data`. In CI it has to be there: nothing may skip."""
    folder = Path(os.environ.get("SPARKANON_DATA", ROOT.parent / "shared" / "data"))
    if folder.is_dir():
        return folder
    missing = f"no data sets in {folder}; set SPARKANON_DATA to their folder"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)
