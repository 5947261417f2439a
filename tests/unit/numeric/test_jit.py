"""Compiled kernels are kept in a folder for this very source."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkanon.numeric import jit


def test_the_cache_belongs_to_all_sources_those_in_sub_folders_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "numeric"
    monkeypatch.setattr(jit, "__file__", str(sources / "jit.py"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))

    def folder(**texts: str) -> str:
        for name, text in texts.items():
            path = sources / f"{name.replace('_', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return jit.cache_folder()

    first = folder(jit="a = 1", group_mdav="b = 1", search_deep_link="c = 1")
    assert Path(first).is_dir()
    assert Path(first).is_relative_to(tmp_path / "cache")
    assert folder() == first
    found = {first, folder(jit="a = 2"), folder(group_mdav="b = 2"), folder(search_deep_link="c")}
    assert len(found) == 4
    (sources / "group" / "mdav.py").rename(sources / "group" / "md.py")
    assert folder() not in found, "a file of another name is another source"
    (sources / "notes.txt").write_text("no source")
    moved = folder()
    assert folder(group_md="b = 2", jit="a = 2") == moved, "the same texts are the same source"
