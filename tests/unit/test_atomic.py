"""A small file is replaced as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sparkanon.atomic import write_atomically


def test_a_file_is_made_with_its_folders_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one" / "report.json"
    for text in ("first", "größer als zuvor"):
        write_atomically(path, text)
        assert path.read_text(encoding="utf-8") == text
        assert list(path.parent.iterdir()) == [path]


def test_readers_never_see_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def full(source: Path, target: Path) -> None:
        assert source.read_text() == "new and long"
        assert path.read_text() == "old"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new and long")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_replaced_keeps_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(OSError):
        write_atomically(tmp_path / "report.json", "new")
    assert os.listdir(tmp_path) == ["report.json"]
