"""One run at a time for one output, and a dead run's lock that does not hold for ever."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from crashes import die_in, long_ago

from sparkanon.engine.stores import lease, lock
from sparkanon.engine.stores.lock import HeldError, Lock
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import InputError, SparkanonError


@pytest.fixture
def tmp_path(tmp_path: Path) -> Posix:
    return Posix(tmp_path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT", 0.02)
    monkeypatch.setattr(lock, "_LOOK", 0.005)


def test_a_second_run_is_refused_while_the_first_lives(tmp_path: Posix) -> None:
    out = tmp_path / "out"
    with Staging(out).alone():
        with pytest.raises(InputError, match=r"output\.path: another run is about to publish"):
            Staging(out).alone().__enter__()
        with Staging(tmp_path / "other").alone(), Staging(out, dry_run=True).alone():
            pass
    with Staging(out).alone():
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_dead_run_holds_until_its_lease_is_stale(
    tmp_path: Posix, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    die_in(f"held = Staging(Path({str(out)!r})).alone()\nheld.__enter__()", tmp_path)
    (left,) = tmp_path.iterdir()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            monkeypatch.setattr(lease, "STALE", -1.0)

    monkeypatch.setattr(lock, "sleep", sleep)
    with Staging(out).alone():
        assert [path.name for path in tmp_path.iterdir()] == [left.name]
    assert len(waits) == 3
    assert list(tmp_path.iterdir()) == []


def test_of_many_that_find_a_dead_lock_one_at_a_time_gets_it(tmp_path: Posix) -> None:
    file = tmp_path / "lock"
    inside, most, done, refused = [0], [0], [0], [0]
    counting = threading.Lock()

    def run() -> None:
        for _ in range(5):
            try:
                with Lock(file) as mine:
                    with counting:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                    time.sleep(0.002)
                    with counting:
                        inside[0] -= 1
                        done[0] += mine.held
            except HeldError:
                with counting:
                    refused[0] += 1

    file.create(b"of a dead run")
    long_ago(file)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most[0] == 1
    assert done[0] > 0
    assert done[0] + refused[0] == 20
    assert list(tmp_path.iterdir()) == []


def test_a_live_lock_that_is_taken_by_mistake_is_put_back(tmp_path: Posix) -> None:
    """By a run that had seen a dead one, which a third run has replaced in the meantime."""
    file = tmp_path / "lock"
    with Lock(file) as mine:
        Lock(file)._take_away()
        assert mine.held
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_lost_its_lock_publishes_nothing(tmp_path: Posix) -> None:
    out = tmp_path / "out"
    sleeper = Staging(out)
    with sleeper.alone(), sleeper:
        sleeper.table.mkdir()
        (held,) = tmp_path.glob(".sparkanon-*-lock")
        held.unlink()
        with Staging(out).alone():
            with pytest.raises(SparkanonError, match="another run took"):
                sleeper.publish(sleeper.table)
            assert held.exists(), "it is another run's now"
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_somebody_else_made_by_the_same_name_is_left_alone(tmp_path: Posix) -> None:
    file = tmp_path / "lock"
    with Lock(file):
        file.unlink()
        file.write_text("somebody else's")
    assert file.read_text() == "somebody else's"
