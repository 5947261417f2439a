"""Private folders: gone although tasks still write into them, and after a process was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from sparkanon.engine import owned
from sparkanon.engine.files import Staging


@contextlib.contextmanager
def lost_tasks(folder: Path) -> Iterator[None]:
    """Threads that go on creating files in a folder, as workers do that nobody waits for."""
    stop, numbers = threading.Event(), count()

    def write() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                (folder / f"part-{next(numbers)}").write_text("raw cells")

    tasks = [threading.Thread(target=write) for _ in range(8)]
    for task in tasks:
        task.start()
    try:
        while not any(folder.iterdir()):
            pass
        yield
    finally:
        stop.set()
        for task in tasks:
            task.join()


def test_tasks_that_still_write_leave_nothing(tmp_path: Path) -> None:
    for attempt in range(20):
        with Staging(tmp_path / "release", f"run{attempt}") as staging:
            work = staging.path / "work"
            work.mkdir()
            with lost_tasks(work):
                owned.remove(work)
                assert list(staging.path.iterdir()) == []
                work.mkdir()  # done again
                staging.__exit__()
                assert list(tmp_path.iterdir()) == []
        assert list(tmp_path.iterdir()) == []


def left_by_a_killed_process(code: str, folder: Path) -> None:
    code = f"from pathlib import Path\n{code}\nimport os\nos.kill(os.getpid(), {signal.SIGKILL:d})"
    found = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(folder)}, check=False
    )
    assert found.returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_cleared_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_by_a_killed_process(
        "from sparkanon.engine.owned import scratch\n"
        "from sparkanon.engine.files import Staging\n"
        "(scratch() / 'part-0').write_text('raw cells')\n"
        f"staging = Staging(Path({str(tmp_path / 'release')!r}), 'killed').__enter__()\n"
        "(staging.path / 'part-0').write_text('raw cells')",
        tmp_path,
    )
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = owned.scratch.__wrapped__()
    with Staging(tmp_path / "release", "next") as staging:
        assert set(tmp_path.iterdir()) == {mine, staging.path}
    assert owned.scratch.__wrapped__() != mine
    assert mine.exists(), "a process clears nothing of those that live"


def test_an_old_release_goes_back_to_its_own_place(tmp_path: Path) -> None:
    left_by_a_killed_process(
        "from sparkanon.engine.files import Staging\n"
        f"staging = Staging(Path({str(tmp_path / 'release-2')!r}), 'killed').__enter__()\n"
        "(staging.path / 'old').mkdir()",
        tmp_path,
    )
    with Staging(tmp_path / "release", "one"):
        pass
    assert not (tmp_path / "release").exists()
    with Staging(tmp_path / "release-2", "two"):
        assert (tmp_path / "release-2").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["release-2"]
