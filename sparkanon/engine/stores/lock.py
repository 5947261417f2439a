"""One run at a time for one output."""

from __future__ import annotations

import contextlib
import secrets
from time import sleep
from types import TracebackType

from sparkanon.engine.stores.lease import Lease, is_old
from sparkanon.engine.stores.place import Place

_LOOK = 0.5  # seconds between two looks at the lock of another run


class HeldError(Exception):
    """Another run, which lives, has the lock."""


class Lock:
    """A file that one run at a time can make, under a lease.

    A dead run's lock holds for a minute. Whether a run is dead shows earlier if it is not: a live
    one touches its lock every few seconds.
    """

    def __init__(self, file: Place) -> None:
        self._file = file
        self._lease = Lease(file)

    def __enter__(self) -> Lock:
        first: float | None = None
        while True:
            with contextlib.suppress(FileExistsError):
                self._lease.take()
                return self
            with contextlib.suppress(FileNotFoundError):  # it was just given up
                touched = self._file.touched()
                if first is not None and touched != first:
                    raise HeldError
                first = touched
                if is_old(self._file, self._file.parent):
                    self._take_away()
                else:
                    sleep(_LOOK)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        held = self.held
        self._lease.end()
        if held:
            with contextlib.suppress(OSError):  # it holds for a minute, then
                self._file.unlink()

    @property
    def held(self) -> bool:
        """Whether it is still ours; a run that slept for a minute may have lost it."""
        return self._lease.renew()

    def _take_away(self) -> None:
        """Remove the lock of a dead run, unless another run has just done that and made its own.

        The lock is renamed first. What was renamed by mistake is put back.
        """
        aside = self._file.with_name(f"{self._file.name}~{secrets.token_hex(4)}")
        self._file.rename(aside)
        if not is_old(aside, aside.parent):
            with contextlib.suppress(FileExistsError):
                aside.move(self._file)
                return
        aside.unlink()
