"""Private folders: gone although tasks still write into them, and after a process was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from crashes import die_in, long_ago

from sparkanon.engine.stores import lease, owned
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import SparkanonError


@pytest.fixture
def tmp_path(tmp_path: Path) -> Posix:
    return Posix(tmp_path)


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
    for _ in range(20):
        with Staging(tmp_path / "release") as staging:
            work = staging.path / "work"
            work.mkdir()
            with lost_tasks(work):
                owned.remove(work)
                assert [path.name for path in staging.path.iterdir()] == [lease.LEASE]
                work.mkdir()  # done again
                staging.__exit__()
                assert list(tmp_path.iterdir()) == []
        assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_once_its_lease_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_in(
        "from sparkanon.engine.stores.owned import scratch\n"
        "(scratch() / 'part-0').write_text('raw cells')\n"
        f"staging = Staging(Path({str(tmp_path / 'release')!r})).__enter__()\n"
        "(staging.path / 'part-0').write_text('raw cells')",
        tmp_path,
    )
    left = set(tmp_path.iterdir())
    assert len(left) == 2
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in left)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Staging(tmp_path / "release"):
        assert left < set(tmp_path.iterdir()), "it may live: it was there a moment ago"
    for folder in left:
        long_ago(folder)
    mine = owned.scratch.__wrapped__()
    with Staging(tmp_path / "release") as staging:
        assert set(tmp_path.iterdir()) == {mine, staging.path}
    assert owned.scratch.__wrapped__() != mine
    assert mine.exists(), "a process clears nothing of those that live"


def test_a_run_clears_at_its_end_what_was_fresh_at_its_start(tmp_path: Path) -> None:
    die_in(f"Staging(Path({str(tmp_path / 'release')!r})).__enter__()", tmp_path)
    (left,) = tmp_path.iterdir()
    with Staging(tmp_path / "release"):
        assert left.exists()
        long_ago(left)
    assert not left.exists()


def test_a_run_of_another_host_or_container_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There its number is nobody's here, or our own."""

    def nobody(pid: int, signal: int) -> None:
        raise ProcessLookupError

    with Staging(tmp_path / "release") as theirs:
        monkeypatch.setattr(os, "kill", nobody)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        with Staging(tmp_path / "release"):
            assert theirs.path.exists()
        theirs.check_held()


def test_what_our_own_number_left_in_another_container_is_cleared(tmp_path: Path) -> None:
    left = Staging(tmp_path / "release").path
    left.mkdir()  # by a process that has this one's host and number
    long_ago(left)
    with Staging(tmp_path / "release"):
        assert not left.exists()


def test_a_lease_is_kept_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT", 0.01)
    with Staging(tmp_path / "release") as staging:
        long_ago(staging.path)
        for _ in range(500):
            if not lease.is_stale(staging.path):
                break
            time.sleep(0.01)
        assert not lease.is_stale(staging.path)


def test_the_clock_is_that_of_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Staging(tmp_path / "release") as staging:
        monkeypatch.setattr(time, "time", lambda: 4e9)
        assert not lease.is_stale(staging.path)
        long_ago(staging.path, 59)
        assert not lease.is_stale(staging.path)
        long_ago(staging.path, 61)
        assert lease.is_stale(staging.path)


@pytest.mark.parametrize("how", ["removed", "made anew by a lost task", "somebody else's"])
def test_a_run_that_lost_its_folder_publishes_nothing(tmp_path: Path, how: str) -> None:
    with Staging(tmp_path / "release") as staging:
        staging.table.mkdir()
        if how == "somebody else's":
            (staging.path / lease.LEASE).write_text("another token")
        else:
            long_ago(staging.path)
            with Staging(tmp_path / "release"):
                assert not staging.path.exists()
        if how == "made anew by a lost task":
            staging.table.mkdir(parents=True)
        with pytest.raises(SparkanonError, match="nothing was published"):
            staging.publish(staging.table)
    assert not (tmp_path / "release").exists()


def test_a_lost_folder_is_reported_whatever_failed_because_of_it(tmp_path: Path) -> None:
    def run() -> None:
        with Staging(tmp_path / "release") as staging:
            shutil.rmtree(staging.path)
            (staging.path / "work").mkdir()

    with pytest.raises(SparkanonError, match="another run took"):
        run()


def test_a_folder_that_a_lost_task_made_anew_is_cleared(tmp_path: Path) -> None:
    with Staging(tmp_path / "release") as staging:
        pass
    (staging.path / "public").mkdir(parents=True)
    with Staging(tmp_path / "release"):
        assert staging.path.exists()
        long_ago(staging.path)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_others_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    die_in(f"Staging(Path({str(tmp_path / 'release')!r})).__enter__()", tmp_path)
    (left,) = tmp_path.iterdir()
    (tmp_path / f"{left.name}-by-hand").mkdir()
    for folder in list(tmp_path.iterdir()):
        long_ago(folder)
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: 4711)
        with Staging(tmp_path / "release"):
            pass
    assert left.exists()
    with Staging(tmp_path / "release"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [f"{left.name}-by-hand"]


def test_names_say_nothing_of_host_process_or_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(folder: Path) -> str:
        return Staging(folder / "out" / "release", folder / "staging").path.name[:-16]

    before = named(tmp_path / "a")
    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    assert named(tmp_path / "b" / "c") == before
    assert Staging(tmp_path / "a" / "out" / "other", tmp_path).path.name[:-16] != before
