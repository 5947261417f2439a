"""Steps of a run: timed, and reported to a watcher."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol


class Watcher(Protocol):
    """Someone who wants to see progress: a terminal, a log, a notebook."""

    def started(self, step: str) -> None: ...

    def done(self, step: str, seconds: float, note: str) -> None: ...


class Silent:
    """Nobody watches."""

    def started(self, step: str) -> None:
        pass

    def done(self, step: str, seconds: float, note: str) -> None:
        pass


class Steps:
    """Times each step; `note` adds what a person may want to know about the current one."""

    def __init__(self, watcher: Watcher | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._watcher = watcher or Silent()
        self._note = ""

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._note = ""
        self._watcher.started(name)
        start = time.perf_counter()
        yield
        taken = time.perf_counter() - start
        self.seconds[name] = round(self.seconds.get(name, 0.0) + taken, 3)
        self._watcher.done(name, taken, self._note)

    def note(self, text: str) -> None:
        self._note = text
