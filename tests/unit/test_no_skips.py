"""In CI a skip is a failure; at home it is a skip; no browser is excused everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import no_skips
import pytest

HELPERS = str(Path(no_skips.__file__).parent)
TESTS = """
import pytest
from reference_data import data_file

def test_data():
    data_file("tarragona.csv")

@pytest.mark.skipif(True, reason="no browser: none is installed")
def test_browser():
    pass

@pytest.mark.skipif(True, reason="no time")
def test_marked():
    pass

@pytest.mark.xfail
def test_expected():
    assert False
"""


@pytest.mark.parametrize(
    ("ci", "summary"),
    [
        ("true", "1 failed, 1 skipped, 1 xfailed, 2 errors"),
        ("", "4 skipped, 1 xfailed"),
    ],
)
def test_a_skip_fails_in_ci_alone(tmp_path: Path, ci: str, summary: str) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('not_there')\n")
    options = ["-p", "no_skips", "-p", "no:xdist", "--continue-on-collection-errors", "-rfsE"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        env=os.environ
        | {"CI": ci, "PYTHONPATH": HELPERS, "SPARKANON_DATA": str(tmp_path / "nowhere")},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f" {summary} in " in found.stdout, found.stdout
    assert found.returncode == (1 if ci else 0)
    assert "set SPARKANON_DATA to their folder" in found.stdout
