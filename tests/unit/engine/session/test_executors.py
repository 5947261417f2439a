"""What workers say about their machine, asked in processes with another sparkanon or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from pyspark import cloudpickle

from sparkanon.engine.session import executors, probe, warm
from sparkanon.engine.session.executors import Worker
from sparkanon.releases import Centroid

PACKAGE = Path(probe.__file__).parents[2]
# Python as it is here, but without this package
ASK = """
import pathlib, pickle, sys
sys.meta_path = [one for one in sys.meta_path if "editable" not in repr(one)]
sys.path = [one for one in sys.path if not pathlib.Path(one, "sparkanon").is_dir()]
sys.path[:0] = sys.argv[1:]
look = pickle.load(sys.stdin.buffer)
print(next(look(iter([]))).column("found")[0].as_py())
"""


def asked(*paths: Path, sources: str = "", cache: str | None = None) -> Worker:
    """A worker that finds packages in these paths."""
    work = cloudpickle.dumps(None)
    looking = cloudpickle.dumps(probe.looking(sources or probe.sources_of(PACKAGE), work))
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, *map(str, paths)],
        input=looking,
        capture_output=True,
        check=False,
        cwd="/",
        env=environment | ({"NUMBA_CACHE_DIR": cache} if cache else {}),
    )
    assert done.returncode == 0, done.stderr.decode()
    return Worker(**json.loads(done.stdout))


def test_the_same_package(tmp_path: Path) -> None:
    worker = asked(PACKAGE.parent, cache=str(tmp_path))
    assert worker.problem is None
    assert Path(str(worker.cache)).is_relative_to(tmp_path)
    assert not [path for path in Path(str(worker.cache)).rglob("*") if path.is_file()]
    assert worker.python == sys.version.split()[0]


def test_no_package() -> None:
    worker = asked()
    assert worker.version in (None, probe.version_of("sparkanon"))
    assert str(worker.problem).startswith("have no sparkanon: ")


def test_another_package(tmp_path: Path) -> None:
    (tmp_path / "sparkanon").mkdir()
    (tmp_path / "sparkanon" / "__init__.py").write_text("raise SystemExit('was imported')")
    worker = asked(tmp_path)
    assert str(worker.problem).startswith("have another sparkanon (")


def test_one_line_is_another_package() -> None:
    worker = asked(PACKAGE.parent, sources="another digest")
    assert str(worker.problem).startswith("have another sparkanon (")
    assert worker.cache is None


def test_a_package_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sparkanon.zip", "w") as made:
        made.write(PACKAGE / "__init__.py", "sparkanon/__init__.py")
    worker = asked(tmp_path / "sparkanon.zip")
    assert str(worker.problem).startswith("have sparkanon in a zip file")


def test_problems_are_said_once() -> None:
    bare = Worker("one", "3.11.7", {})
    uncached = Worker("two", "3.11.7", {}, "0.2.0", same=True, cache="")
    well = Worker("three", "3.11.7", {}, "0.2.0", same=True, cache="/cache")
    lacking = Worker("four", "3.11.7", {}, "0.2.0", same=True, lacks="numba")
    problems = executors.problems_of([bare, uncached, well, bare, lacking, well])
    assert {one.path for one in problems} == {"executors"}
    texts = sorted(one.message for one in problems)
    assert len(texts) == 3
    assert texts[0].startswith("can keep no compiled kernels")
    assert texts[0].endswith("(seen on two)")
    assert texts[1].startswith("have no sparkanon")
    assert texts[2].startswith("lack numba")
    assert executors.machines([bare, bare]) == "1 machine"


def test_kernels_are_compiled_once_per_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []

    def compiling(*what: object) -> None:
        calls.append(what)
        time.sleep(0.2)

    monkeypatch.setattr(warm, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(warm, "warm", compiling)
    work = warm.Kernels(None, Centroid(), linkage=False)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [(None, Centroid())]
    monkeypatch.setattr(warm, "warm_linkage", lambda: calls.append("linkage"))
    monkeypatch.setattr(warm, "warm_boxes", lambda: calls.append("boxes"))
    warm.Kernels(None, Centroid(), linkage=True)()
    assert calls[2:] == ["linkage", "boxes"]


def test_a_failed_compilation_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(warm, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(warm, "warm", failing)
    for _ in range(2):
        with pytest.raises(MemoryError):
            warm.Kernels(None, Centroid(), linkage=False)()
