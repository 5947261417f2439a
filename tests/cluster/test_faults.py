"""What dies while a release is made: the right release once and whole, or the old one."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lake
import psutil
import pytest
from drivers import KILLED, Done, Driver
from hdfs import Hdfs
from standalone import Standalone, settings

pytest_plugins = ["clusters"]
pytestmark = pytest.mark.cluster

PERMUTE = {"release": "permute"}  # draws: what is tried again must draw the same
PIPELINE = "sparkanon.engine.pipeline"
RENAMES = "sparkanon.engine.session.hadoop:Hadoop.move"


@pytest.fixture(scope="module")
def right(near: Driver) -> dict[int, lake.Rows]:
    """The releases of local mode with k = 5, which is the old one in these tests, and 4."""
    found = {}
    for k in (5, 4):
        content = lake.policy(str(near.folder.parent / "people"), str(near.folder), f"k{k}")
        policy = lake.write_policy(near.folder / f"k{k}.yaml", content | _asked(k))
        near.run("anonymize", policy).is_ok()
        found[k] = lake.release_in(near.folder / f"k{k}" / "release")
    assert found[5] != found[4]
    return found


def _asked(k: int) -> dict[str, Any]:
    return {"k": k, "method": PERMUTE}


def _policy(driver: Driver, name: str, k: int, **changes: Any) -> Path:
    content = lake.policy("/lake/people", "/faults", name) | _asked(k) | changes
    return lake.write_policy(driver.folder / f"{name}_k{k}.yaml", content)


class When:
    """Does something once `seen` says so, while the test waits for the run."""

    def __init__(self, seen: Callable[[], bool], do: Callable[[], None], step: str = "mask"):
        self._seen, self._do, self._step, self.done = seen, do, step, False

    def __call__(self, step: str) -> None:
        if step == self._step:
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self._seen():
                self._do()
                self.done = True
                return
            time.sleep(0.01)


def _executors(worker: int) -> list[psutil.Process]:
    found = psutil.Process(worker).children(recursive=True)
    return [one for one in found if "CoarseGrainedExecutorBackend" in " ".join(one.cmdline())]


def _is_whole(done: Done, store: Hdfs, name: str, rows: lake.Rows) -> None:
    done.is_ok()
    assert lake.release_on(store, f"/faults/{name}/release") == rows
    assert _left(store, name) == []


def _left(store: Hdfs, name: str) -> list[str]:
    """What lies beside the release and the runs, and every file with a row of the table."""
    release = f"/faults/{name}/release"
    beside = {one.path for one in store.walk(f"/faults/{name}") if ".sparkanon" in one.path}
    files = [one.path for one in store.walk(f"/faults/{name}") if one.is_file]
    shown = {path for path in files if path.startswith(release)}
    return sorted(beside | {path for path in files if lake.is_private(store.read(path))} - shown)


@pytest.mark.parametrize("order", ["kill-worker", "kill-executor"])
@pytest.mark.parametrize("block", [1, 2], ids=["masking", "staging"])
def test_a_worker_dies_at_a_block(
    order: str,
    block: int,
    cluster: Standalone,
    far: Driver,
    store: Hdfs,
    right: dict[int, lake.Rows],
) -> None:
    name = f"{order}-{block}"
    written = cluster.machines[0].disk / order
    written.write_text(str(block))
    done = far.run("anonymize", _policy(far, name, 5))
    assert not written.exists(), "nothing died"
    _is_whole(done, store, name, right[5])


@pytest.mark.parametrize("what", ["executor", "machine"])
def test_it_dies_in_the_shuffle(
    what: str, cluster: Standalone, far: Driver, store: Hdfs, right: dict[int, lake.Rows]
) -> None:
    machine, worker = cluster.machines[1], cluster.workers[1]
    before = set(machine.files())

    def shuffles() -> bool:
        return any("shuffle_" in one.name for one in set(machine.files()) - before)

    def kill() -> None:
        for executor in _executors(worker.pid):
            executor.kill()
        if what == "machine":
            worker.send(signal.SIGKILL)

    when = When(shuffles, kill)
    done = far.run("anonymize", _policy(far, what, 5), at=when)
    assert when.done, "nothing died"
    if what == "machine":
        cluster.again(1)
    _is_whole(done, store, what, right[5])


def test_the_store_is_away_for_a_while(
    far: Driver, store: Hdfs, right: dict[int, lake.Rows]
) -> None:
    def pause() -> None:
        store.datanode.send(signal.SIGSTOP)
        time.sleep(20)
        store.datanode.send(signal.SIGCONT)

    when = When(lambda: True, pause)
    _is_whole(far.run("anonymize", _policy(far, "away", 5), at=when), store, "away", right[5])
    assert when.done


@pytest.mark.parametrize(
    ("moment", "die", "allowed"),
    [
        ("before staging", {"before": f"{PIPELINE}:stage"}, "old"),
        ("while staging", None, "old"),
        ("verified", {"before": f"{PIPELINE}:publish"}, "old"),
        ("between the renames", {"before": RENAMES, "call": 2}, "none"),
        ("not cleaned up", {"after": f"{PIPELINE}:publish"}, "new"),
    ],
)
def test_a_driver_dies(
    moment: str,
    die: dict[str, Any] | None,
    allowed: str,
    cluster: Standalone,
    far: Driver,
    store: Hdfs,
    folder: Path,
    right: dict[int, lake.Rows],
) -> None:
    name = moment.replace(" ", "-")
    far.run("anonymize", _policy(far, name, 5)).is_ok()
    with Driver(folder / name, settings(cluster), store.conf) as victim:
        stages = When(lambda: _staged(store, name), victim.kill)
        at = stages if die is None else lambda step: None
        killed = victim.run("anonymize", _policy(victim, name, 4), die=die, at=at)
    assert killed.code == KILLED
    there = {"old": right[5], "new": right[4], "none": lake.rows_of([])}[allowed]
    assert lake.release_on(store, f"/faults/{name}/release") == there
    for one in list(store.walk(f"/faults/{name}")):
        if ".sparkanon" in one.path:
            folder_or_file = one.path.rpartition("/")[2]
            assert not folder_or_file.startswith(".sparkanon") or one.mode in ("700", "600"), one
            store.age(one.path, 3600)  # as if the dead run had been silent for so long
    # the next run mends that before it finds that it cannot run itself
    missing = {"input": {"format": "parquet", "path": "/lake/nothing"}}
    assert far.run("anonymize", _policy(far, name, 4, **missing)).code == 2
    mended = right[5] if allowed == "none" else there
    assert lake.release_on(store, f"/faults/{name}/release") == mended
    assert _left(store, name) == []
    _is_whole(far.run("anonymize", _policy(far, name, 4)), store, name, right[4])


def _staged(store: Hdfs, name: str) -> bool:
    """Whether a file of the staged table is being written."""
    try:
        paths = [one.path for one in store.walk(f"/faults/{name}") if one.is_file]
    except FileNotFoundError:  # a folder that was just removed
        return False
    return any(".sparkanon" in path and "/part-" in path for path in paths)


def test_of_two_runs_at_once_one_publishes(
    cluster: Standalone, far: Driver, store: Hdfs, folder: Path, right: dict[int, lake.Rows]
) -> None:
    with Driver(folder / "rival", settings(cluster), store.conf) as rival:
        asked = {far: 5, rival: 4}
        for driver, k in asked.items():
            driver.ask("anonymize", _policy(driver, "rivals", k))
        ended = {driver: driver.answer() for driver in asked}
    assert sorted(done.code for done in ended.values()) == [0, 2], ended
    (won,) = (k for driver, k in asked.items() if ended[driver].code == 0)
    assert lake.release_on(store, "/faults/rivals/release") == right[won]
    assert _left(store, "rivals") == []
    _is_whole(far.run("anonymize", _policy(far, "rivals", 5)), store, "rivals", right[5])


def test_nothing_private_is_left_on_any_disk(
    cluster: Standalone, far: Driver, store: Hdfs, folder: Path
) -> None:
    """Of the workers, the drivers and the DataNode, which removes blocks in its own time."""
    for machine in cluster.machines:
        assert list(lake.private_files(machine.files())) == []
    drivers = [one for one in folder.iterdir() if (one / "driver.log").exists()]
    for one in drivers:
        if one.name != "near":
            assert list(lake.private_files(one.rglob("*"))) == []
    end = time.monotonic() + 30
    while lake.stray_blocks(store) and time.monotonic() < end:
        time.sleep(1)
    assert lake.stray_blocks(store) == []
