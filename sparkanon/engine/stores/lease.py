"""Leases: a file in a private folder that its run touches every few seconds.

Host and process number say nothing on a cluster: the next run may be on another host, or in
another container where the same number belongs to another process. The age of a file is the same
everywhere, as long as it is measured by the clock of the file system that holds the file.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import threading
from pathlib import Path

LEASE = "_lease"
BEAT = 5.0  # seconds between two touches
STALE = 60.0  # seconds without a touch after which a run counts as dead


class Lease:
    """The right to a folder, kept by a thread that dies with the process."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / LEASE
        self._token = secrets.token_hex(16).encode()
        self._ended = threading.Event()

    def take(self) -> None:
        number = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(self._token)
        threading.Thread(target=self._beat, name="sparkanon-lease", daemon=True).start()

    def renew(self) -> bool:
        """Touch the file; False if the folder is gone or belongs to another run."""
        try:
            number = os.open(self._file, os.O_RDWR)
        except OSError:
            return False
        try:
            ours = os.read(number, len(self._token) + 1) == self._token
            if ours:
                os.utime(number)
            return ours
        except OSError:
            return False
        finally:
            os.close(number)

    def end(self) -> None:
        self._ended.set()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            self.renew()


def is_stale(folder: Path) -> bool:
    """Whether nobody has touched the lease of this folder for too long.

    A folder without a lease is being made or removed right now, or was made again by a lost task.
    Then the age of the folder itself counts.
    """
    with contextlib.suppress(FileNotFoundError):
        return abs(_now(folder.parent) - _touched(folder)) > STALE
    return False


def _touched(folder: Path) -> float:
    try:
        # The file is opened, because network file systems may answer a plain stat from a cache.
        number = os.open(folder / LEASE, os.O_RDONLY)
    except FileNotFoundError:
        return folder.lstat().st_mtime
    try:
        return os.fstat(number).st_mtime
    finally:
        os.close(number)


def _now(folder: Path) -> float:
    """The time by the clock of the file system, which may be another host's."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"now")
        file.flush()
        return os.fstat(file.fileno()).st_mtime
