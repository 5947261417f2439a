"""The private folder where a table waits to be published, and how it gets to its place.

Names inside say what a folder is, so that whoever comes after a crash knows what to do with it:

- `old`: what stood at the output, between the two renames of a file system without exchange.
- `new-<inode>`: what goes out. After an exchange it is what stood at the output; the inode in its
  name tells whether the one that went out still stands there.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from time import sleep

from sparkanon.engine.stores.folders import (
    check_replaceable,
    check_writable,
    is_free,
    sync,
    writing,
)
from sparkanon.engine.stores.lease import LEASE, is_stale
from sparkanon.engine.stores.owned import Private, remove, take, taken_away
from sparkanon.engine.stores.swap import exchange, move
from sparkanon.errors import InputError, Problem, SparkanonError

POLL = 0.2  # seconds between two looks at a run that holds what stood at the output
_TRIES = 5
_OLD, _NEW = "old", "new-"

Check = Callable[[Path, Path], None]


class Staging:
    """A private folder, by default beside the output, that is gone when the run is.

    `check` says what may be replaced, `where` names the output in messages. A dry run leaves what
    a dead run took from the output where it is.
    """

    def __init__(
        self,
        output: Path,
        folder: Path | None = None,
        *,
        check: Check = check_replaceable,
        where: str = "output",
        dry_run: bool = False,
    ) -> None:
        self.output, self.folder = output, folder or output.parent
        self._check, self._where, self._dry_run = check, where, dry_run
        # relative: another host may have mounted the disk elsewhere
        self._private = Private(self.folder, os.path.relpath(output, self.folder))
        self.path = self._private.path

    @property
    def table(self) -> Path:
        return self.path / "table"

    def prepare(self) -> None:
        """Before any work: mend what a dead run left, then say why nothing can be published."""
        self.mend()
        if os.path.ismount(self.output):
            text = f"{self.output} is a mount point, which no rename replaces; take a folder in it"
            raise InputError(Problem(f"{self._where}.path", text))
        self._check(self.output, self.output)
        for folder in {self.folder, self.output.parent}:
            check_writable(folder, f"{self._where}.path", name=self.output.name)

    def __enter__(self) -> Staging:
        self.mend()
        with writing(self.folder, self._where):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._private.make()
        return self

    def __exit__(self, *failure: object) -> None:
        held = self._private.held
        self._give_back(self.path)
        self._private.end()
        self._remove(self.path)
        with contextlib.suppress(OSError):  # the next run tries again
            self._clear()  # leases that were fresh when this run started may be stale now
        error = failure[1] if failure else None
        if not held and isinstance(error, Exception) and not isinstance(error, SparkanonError):
            raise taken_away(self.folder) from None

    def mend(self) -> None:
        """Give back what a dead run took from the output; remove what such runs left.

        A run that holds it and lives puts a folder there in the next moment: wait.
        """
        with writing(self.folder, self._where):
            for left in self._private.others():
                while not self._dry_run and self._taken(left) and not is_stale(left):
                    sleep(POLL)
            self._clear()

    def _clear(self) -> None:
        for left in self._private.others():
            if not is_stale(left):
                continue
            # Renamed first: a run that was only asleep cannot put the output into it any more
            # once it was looked at. FileNotFoundError: another run clears, too.
            with contextlib.suppress(FileNotFoundError):
                held = take(left)
                self._give_back(held)
                self._remove(held)

    def _remove(self, left: Path) -> None:
        """All of it, but for what was taken from the output and cannot go back there."""
        taken = self._taken(left)
        if taken is None:
            remove(left)
            return
        for folder in left.iterdir():
            if folder.name not in (_OLD, LEASE) and not folder.name.startswith(_NEW):
                remove(folder)
        if not self._dry_run:
            text = f"{taken} was at {self.output} when a run was killed; it goes back there when"
            warnings.warn(f"{text} the place is free and the next run starts", stacklevel=2)

    def _taken(self, left: Path) -> Path | None:
        """What a run has in its hands that stood at the output and must not be lost with it."""
        old, new = left / _OLD, next(left.glob(f"{_NEW}*"), None)
        for place in filter(None, (old, new)):
            if not self._is_ours(place):
                return place  # somebody's, seen before the run could look at it again
        # without `new` the second rename was done: what is old is not to come back
        return old if old.exists() and new is not None and not self._is_published() else None

    def _is_ours(self, place: Path) -> bool:
        """Whether nobody misses what is there, or nothing is."""
        try:
            self._check(place, self.output)
        except InputError:
            return False
        except FileNotFoundError:  # on its way
            return not os.path.lexists(place)
        return True

    def _is_published(self) -> bool:
        return not is_free(self.output) and self._is_ours(self.output)

    def _give_back(self, left: Path) -> None:
        taken = self._taken(left)
        if taken is None or self._dry_run:
            return
        with contextlib.suppress(OSError):
            self.output.rmdir()  # an empty folder that somebody made in the meantime
        try:
            move(taken, self.output)
        except FileNotFoundError:
            pass  # another run was faster
        except FileExistsError:
            if taken.name == _named(self.output):  # that run was killed before its second look
                exchange(taken, self.output)

    def check_held(self) -> None:
        """Fail closed if another run took this folder."""
        self._private.check()

    def publish(self, table: Path) -> None:
        """Put `table` where the output is; readers see the old folder or the new one.

        What stands there is looked at again, and put back if it is not ours to replace.
        """
        with writing(self.output.parent, self._where):
            self.output.parent.mkdir(parents=True, exist_ok=True)
            self.check_held()
            new = table.rename(self.path / _named(table))
            for _ in range(_TRIES):  # something may appear or go between two steps
                self.check_held()
                with contextlib.suppress(FileExistsError):
                    move(new, self.output)
                    break
                self._check(self.output, self.output)
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    self._swap(new)
                    break
            else:
                text = f"{self.output} comes and goes; does another run publish there?"
                raise InputError(Problem(f"{self._where}.path", text))
            sync(self.output.parent)

    def _swap(self, new: Path) -> None:
        if exchange(new, self.output):  # a crash before the next line is mended by the next run
            try:
                self._check(new, self.output)
            except BaseException:
                exchange(new, self.output)
                raise
            return
        old = self.path / _OLD
        os.rename(self.output, old)  # a crash from here to the next rename is, too
        try:
            self._check(old, self.output)
            move(new, self.output)
        except BaseException:
            self._give_back(self.path)
            if self._taken(self.path) is None:
                remove(old)  # another run's release stands there now
            raise
        remove(old)  # nobody is to take it for the release of a run that has failed


def _named(folder: Path) -> str:
    """How a folder is called while it goes out; it keeps its inode through all renames."""
    return f"{_NEW}{folder.lstat().st_ino}"
