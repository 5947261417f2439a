"""Private folders that hold raw rows for a while, and how all of them are removed in the end.

A folder's name says what it is for and nothing about who made it, so that the next run with the
same purpose, on whatever host, finds it. Its lease says whether the run that made it still lives.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import re
import secrets
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache

from sparkanon.engine.stores.lease import LEASE, Lease, is_stale
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.errors import SparkanonError

_TRIES, _PAUSE = 100, 0.05  # five seconds, after which a task that still writes is done or dead


class Private:
    """A folder that only its owner can enter, under a lease."""

    def __init__(self, parent: Place, purpose: str) -> None:
        self.parent, self.purpose = parent, purpose
        self.path = parent / f"{begin(purpose)}{secrets.token_hex(8)}"
        self._lease = Lease(self.path / LEASE)

    def make(self) -> None:
        self.path.mkdir(mode=0o700)
        try:
            self._lease.take()
        except OSError:  # the disk is full
            remove(self.path)
            raise

    @property
    def held(self) -> bool:
        """Whether this folder is still ours."""
        return self._lease.renew()

    def check(self) -> None:
        """Fail closed if another run took the folder."""
        if not self.held:
            raise taken_away(self.parent)

    def others(self) -> Iterator[Place]:
        """Folders of the same purpose and owner that other runs made, whether they live or not."""
        name = re.compile(rf"{re.escape(begin(self.purpose))}[0-9a-f]{{16}}(~[0-9a-f]+)?")
        if not self.parent.is_dir():
            return
        for folder in sorted(self.parent.iterdir(), key=lambda one: one.name):
            if folder != self.path and name.fullmatch(folder.name) and folder.is_own():
                yield folder

    def clear_others(self) -> None:
        """Remove the folders of runs that no longer live."""
        for folder in self.others():
            if is_stale(folder):
                remove(folder)

    def end(self) -> None:
        """Give up the lease, so that the next run may clear the folder."""
        self._lease.end()

    def remove(self) -> None:
        self.end()
        remove(self.path)


def taken_away(folder: Place) -> SparkanonError:
    return SparkanonError(
        f"another run took the private folder in {folder} away from this one, which had given "
        "no sign of life for too long; nothing was published, run it again"
    )


def take(folder: Place) -> Place:
    """Rename a folder, so that tasks which still write to its old name cannot reach it.

    An object store has no folders: there a rename would copy every row.
    """
    if not folder.has_folders:
        return folder
    return folder.rename(
        folder.with_name(f"{folder.name.partition('~')[0]}~{secrets.token_hex(4)}")
    )


def remove(folder: Place) -> None:
    """Remove a folder that lost tasks may still write into.

    It is renamed first, after which only files that are being created right now can still appear.
    If it cannot be removed, the next run tries again.
    """
    try:
        aside = take(folder)
    except FileNotFoundError:
        return
    except OSError:
        aside = folder
    for _ in range(_TRIES):
        try:
            aside.remove_tree()
        except OSError:
            time.sleep(_PAUSE)
        with contextlib.suppress(OSError):
            if not aside.is_there():
                return
    warnings.warn(f"cannot remove {aside}; it holds private rows", stacklevel=2)


@cache
def scratch() -> Posix:
    """A private folder of this process: Spark's own files, releases that have no output."""
    folder = Posix(tempfile.gettempdir())
    private = Private(folder, "scratch")
    private.clear_others()
    private.make()
    atexit.register(_end, private)
    return folder / private.path.name


def _end(private: Private) -> None:
    """Remove the folder, and those of dead runs whose leases were still fresh at the start."""
    private.clear_others()
    private.remove()


def begin(purpose: str) -> str:
    """How the names of private folders for this purpose begin."""
    return f".sparkanon-{hashlib.sha256(purpose.encode()).hexdigest()[:16]}-"
