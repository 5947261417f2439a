"""Leases: files that a run touches every few seconds, to show that it still lives.

Host and process number say nothing on a cluster: the next run may be on another host, or in
another container where the same number belongs to another process. The age of a file is the same
everywhere, as long as it is measured by the clock of the store that holds the file.
"""

from __future__ import annotations

import contextlib
import secrets
import threading

from sparkanon.engine.stores.place import Place

LEASE = "_lease"
BEAT = 5.0  # seconds between two touches
STALE = 60.0  # seconds without a touch after which a run counts as dead


class Lease:
    """The right that a file stands for, kept by a thread that dies with the process."""

    def __init__(self, file: Place) -> None:
        self._file = file
        self._token = secrets.token_hex(16).encode()
        self._ended = threading.Event()
        self._renewing = threading.Lock()

    def take(self) -> None:
        """Make the file; FileExistsError if another run has it."""
        self._file.create(self._token)
        threading.Thread(target=self._beat, name="sparkanon-lease", daemon=True).start()

    def renew(self) -> bool:
        """Touch the file; False if it is gone or belongs to another run."""
        with self._renewing:
            return not self._ended.is_set() and self._file.renew(self._token)

    def end(self) -> None:
        """Touch it no more, not even now: on an object store a touch would make it again."""
        self._ended.set()
        with self._renewing:
            pass

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            with contextlib.suppress(OSError):  # a store may be out of reach for a while
                self.renew()


def is_stale(folder: Place) -> bool:
    """Whether nobody has touched the lease of this folder for too long.

    A folder without a lease is being made or removed right now, or was made again by a lost task.
    Then the age of the folder itself counts.
    """
    with contextlib.suppress(FileNotFoundError):
        try:
            return is_old(folder / LEASE, folder.parent)
        except FileNotFoundError:
            return is_old(folder, folder.parent)
    return False


def is_old(place: Place, clock: Place) -> bool:
    """Whether a file or folder was not touched for so long that its run counts as dead.

    `clock` is a folder of the same store, whose clock decides.
    """
    return abs(clock.now() - place.touched()) > STALE
