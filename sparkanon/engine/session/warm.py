"""Fill the on-disk cache of the kernels once, so that other processes only load it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np

from sparkanon.groupings import GROUPINGS, Grouping, Mdav
from sparkanon.needs import Known
from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.merge import merged
from sparkanon.numeric.guard import CLOSE_ORDERED, Rule, make_guard
from sparkanon.numeric.jit import cache_folder
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Scale
from sparkanon.numeric.search.boxes import make_boxes, make_yard, paired, touched
from sparkanon.numeric.search.link import link, make, reaches
from sparkanon.numeric.search.shelves import near
from sparkanon.releases import Grouped, Release
from sparkanon.releases.hybrid import Hybrid

_warm: set[str] = set()  # what this process has run already


def warm(grouping: Grouping | None, release: Release) -> None:
    """Compile the kernels of a grouping and a release by running them on a few records.

    They run with both distances and the array types of a real run. A grouping that serves large
    blocks also runs on more records, because it may treat large blocks in another way. Without a
    grouping nothing is compiled.
    """
    if grouping is None or repr((grouping, release)) in _warm:
        return
    sizes = (12, 4200) if grouping.block_rows > 20_000 else (12,)
    for points in (points for n in sizes for points in _examples(n)):
        grouping.group(points, 2, np.random.default_rng(0))
    merged(next(_examples(12)), np.repeat(np.arange(6, dtype=np.int32), 2))
    column = Column("", Scale.NUMERIC, np.arange(12.0), np.zeros(12, np.bool_))
    if not release.needs():
        fitted = release.fit(Known())
        groups = Grouped(np.zeros(12, np.int32), np.random.default_rng(0))
        fitted.publish((column,), groups)
    _warm.add(repr((grouping, release)))


def warm_linkage() -> None:
    """Compile the kernels of the linkage search by points."""
    for points in _examples(12):
        values, metric = arrays(points)
        cls, best = np.arange(points.n), np.ones(points.n)
        link(make(values, metric, cls, cls), metric, values, cls, best)
        reaches(values, best, values[:, :3].T, values[:, :3].T, metric)


def warm_boxes() -> None:
    """Compile the kernels of the linkage search by boxes."""
    if "boxes" in _warm:
        return
    for capped in (False, True):
        yard = make_yard(np.ones(2), np.ones(2), capped)
        values = np.random.default_rng(0).random((2, 12))
        boxes, own = make_boxes(values, values), np.ones(12)
        paired(boxes, boxes, yard)
        touched(boxes, own, values, values, own, yard)
        for original_asks in (False, True):
            rows = np.arange(12)
            near(boxes, boxes, yard, original_asks, rows, rows, own)
    _warm.add("boxes")


@dataclass(frozen=True)
class Kernels:
    """What a run needs compiled. Called on an executor, it compiles that once per machine.

    The first worker compiles, and the others wait for it: they would compile the same meanwhile.
    A file in the cache says what was done. It names the machine and the version of numba, because
    a cache in a shared home serves machines with other processors, whose kernels are others.
    """

    grouping: Grouping | None
    release: Release
    linkage: bool

    def __call__(self) -> None:
        said = f"{self!r} {platform.node()} {numba.__version__}"
        done = Path(cache_folder()) / f"warm-{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        with done.with_suffix(".lock").open("w") as file:
            with contextlib.suppress(OSError):  # no locks on this file system: they all compile
                fcntl.flock(file, fcntl.LOCK_EX)
            if done.exists():
                return
            warm(self.grouping, self.release)
            if self.linkage:
                warm_linkage()
                warm_boxes()
            done.touch()


def warm_all() -> None:
    """Compile all kernels, for `make setup`: every grouping, and the one release with a kernel.

    This uses all cores, because it takes minutes. The kernels that most groupings share come
    first. Then groupings are taken in pairs of the registry's order, because neighbours often
    share more; the last pair takes longest, so it is started first.
    """
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        done = [pool.submit(warm_linkage), pool.submit(warm_boxes)]
        warm(Mdav(), Hybrid())
        keys = GROUPINGS.keys()[::-1]
        done += [pool.submit(_warm_both, keys[i : i + 2]) for i in range(0, len(keys), 2)]
        for one in done:
            one.result()


def _warm_both(keys: Sequence[str]) -> None:
    for key in keys:
        warm(GROUPINGS.build(key), Hybrid())


def _examples(n: int) -> Iterator[Points]:
    values = np.random.default_rng(n).random((2, n))
    # A rule that no group keeps, so that all kernels of a merge run.
    guard = make_guard([Rule(CLOSE_ORDERED, -1.0, 1.0, np.arange(n) % 2, np.ones(2, np.int64))])
    yield Points(values, Metric.euclidean(2), guard)
    yield Points(values, Metric.manhattan(np.ones(2), np.array([False, True])), guard)
