"""Two processes that start with Delta on a new machine must not fill Ivy's cache together."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from multiprocessing.queues import Queue
from pathlib import Path

import pytest

from sparkanon.engine.session.session import one_download

HELD = 0.3  # seconds


def hold(times: Queue[tuple[float, float]]) -> None:
    with one_download():
        start = time.monotonic()
        time.sleep(HELD)
        times.put((start, time.monotonic()))


def test_one_process_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    forked = multiprocessing.get_context("fork")
    times: Queue[tuple[float, float]] = forked.Queue()
    processes = [forked.Process(target=hold, args=(times,)) for _ in range(3)]
    for process in processes:
        process.start()
    held = sorted(times.get(timeout=30) for _ in processes)
    for process in processes:
        process.join()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(held))


def test_a_home_that_cannot_be_written_needs_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with one_download():
        pass
