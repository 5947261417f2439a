"""The private folder where a table waits to be published, and how it gets to its place.

Names inside say what a folder is, so that the next run knows what to do with it after a crash:

- `old`: what stood at the output, between the two renames of a file system without exchange.
- `new-<inode>`: what is being published. After an exchange it is what stood at the output before;
  the inode in its name shows whether the published folder still stands at the output.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from time import sleep

from sparkanon.engine.stores.folders import (
    check_replaceable,
    check_writable,
    is_free,
    writing,
)
from sparkanon.engine.stores.lease import LEASE, is_stale
from sparkanon.engine.stores.lock import HeldError, Lock
from sparkanon.engine.stores.owned import Private, begin, remove, take, taken_away
from sparkanon.engine.stores.place import Place
from sparkanon.errors import InputError, Problem, SparkanonError

POLL = 0.2  # seconds between two looks at a run that is just replacing the output
_TRIES = 5
_OLD, _NEW = "old", "new-"

Check = Callable[[Place, Place], None]


class Staging:
    """A private folder, by default beside the output, that is gone when the run is.

    `check` says what may be replaced, `where` names the output in messages. A dry run does not
    put back what a dead run took from the output.
    """

    def __init__(
        self,
        output: Place,
        folder: Place | None = None,
        *,
        check: Check = check_replaceable,
        where: str = "output",
        dry_run: bool = False,
    ) -> None:
        self.output, self.folder = output, folder or output.parent
        self._check, self._where, self._dry_run = check, where, dry_run
        self._private = Private(self.folder, output.seen_from(self.folder))
        self._lock: Lock | None = None
        self.path = self._private.path

    @property
    def table(self) -> Place:
        return self.path / "table"

    def prepare(self) -> None:
        """Before any work, clear what dead runs left, and refuse if nothing can be published."""
        self.mend()
        with writing(self.output, self._where):
            if self.output.is_mount():
                text = f"{self.output} is a mount point, which no rename replaces; "
                raise InputError(Problem(f"{self._where}.path", f"{text}take a folder in it"))
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
        held = True
        with contextlib.suppress(OSError):  # the store is out of reach, and nobody can say
            held = self._private.held
        self._give_back(self.path)
        self._private.end()
        self._remove(self.path)
        with contextlib.suppress(OSError):  # the next run tries again
            self._clear()  # leases that were fresh when this run started may be stale now
        error = failure[1] if failure else None
        if not held and isinstance(error, Exception) and not isinstance(error, SparkanonError):
            raise taken_away(self.folder) from None

    @contextlib.contextmanager
    def alone(self, folder: Place | None = None) -> Iterator[None]:
        """While this lasts, no other run publishes there; refuses if one is about to.

        The lock lies in this folder, by default beside the output. A dry run needs none.
        """
        if self._dry_run:
            yield
            return
        folder = folder or self.output.parent
        lock = Lock(folder / f"{begin(self.output.seen_from(folder))}lock")
        with contextlib.ExitStack() as held:
            with writing(folder, self._where):
                held.callback(_remove_empty, _missing(folder))
                folder.mkdir(parents=True, exist_ok=True)
                try:
                    self._lock = held.enter_context(lock)
                except HeldError:
                    text = f"another run is about to publish to {self.output}; wait for its end"
                    raise InputError(Problem(f"{self._where}.path", text)) from None
            yield

    def mend(self) -> None:
        """Put back what a dead run took from the output, and remove what such runs left.

        A live run that has taken it puts a folder there in a moment, so wait for that first.
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
            # Renamed first, so that a run that was only asleep cannot move the output into it
            # after it was examined. FileNotFoundError: another run is clearing it as well.
            with contextlib.suppress(FileNotFoundError):
                held = take(left)
                self._give_back(held)
                self._remove(held)

    def _remove(self, left: Place) -> None:
        """Remove a dead run's folder, but keep what it took from the output and cannot go back."""
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

    def _taken(self, left: Place) -> Place | None:
        """The folder that a run took from the output and that must not be lost, or None."""
        old, new = left / _OLD, _new_in(left)
        for place in filter(None, (old, new)):
            if not self._is_ours(place):
                return place  # the run was killed before it could check and restore it
        # without `new` the second rename was done, so `old` is not to come back
        return old if old.is_there() and new is not None and not self._is_published() else None

    def _is_ours(self, place: Place) -> bool:
        """Whether this folder may be replaced, or does not exist."""
        try:
            self._check(place, self.output)
        except InputError:
            return False
        except FileNotFoundError:  # just being renamed
            return not place.is_there()
        return True

    def _is_published(self) -> bool:
        return not is_free(self.output) and self._is_ours(self.output)

    def _give_back(self, left: Place) -> None:
        taken = self._taken(left)
        if taken is None or self._dry_run:
            return
        with contextlib.suppress(OSError):
            self.output.rmdir()  # in case somebody made an empty folder there in the meantime
        try:
            taken.move(self.output)
        except FileNotFoundError:
            pass  # another run was faster
        except FileExistsError:
            if taken.name == _named(self.output):  # that run was killed before its second check
                taken.exchange(self.output)

    def check_held(self) -> None:
        """Fail closed if another run took this folder, or may publish by now."""
        self._private.check()
        if self._lock is not None and not self._lock.held:
            raise taken_away(self.folder)

    def publish(self, table: Place) -> None:
        """Put `table` where the output is; readers see the old folder or the new one.

        What stood there is checked once more, and put back if it must not be replaced.
        """
        with writing(self.output.parent, self._where):
            self.output.parent.mkdir(parents=True, exist_ok=True)
            self.check_held()
            new = table.rename(self.path / _named(table))
            for _ in range(_TRIES):  # something may appear or go between two steps
                self.check_held()
                with contextlib.suppress(FileExistsError):
                    new.move(self.output)
                    break
                self._check(self.output, self.output)
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    self._swap(new)
                    break
            else:
                text = f"{self.output} comes and goes; does another run publish there?"
                raise InputError(Problem(f"{self._where}.path", text))
            self.output.parent.sync()

    def _swap(self, new: Place) -> None:
        if new.exchange(self.output):  # after a crash here, the next run repairs the output
            try:
                self._check(new, self.output)
            except BaseException:
                new.exchange(self.output)
                raise
            return
        old = self.path / _OLD
        self.output.rename(old)  # the same holds for a crash before the next rename
        try:
            self._check(old, self.output)
            new.move(self.output)
        except BaseException:
            self._give_back(self.path)
            if self._taken(self.path) is None:
                remove(old)  # another run's release stands there now
            raise
        remove(old)  # so that no later run puts it back


def _missing(folder: Place) -> list[Place]:
    """This folder and those around it, as far as they are not there yet."""
    found: list[Place] = []
    while not folder.is_there():
        found.append(folder)
        folder = folder.parent
    return found


def _remove_empty(folders: list[Place]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):  # something is in it
            folder.rmdir()


def _named(folder: Place) -> str:
    """The name of a folder while it is published: by its inode, which renames do not change."""
    return f"{_NEW}{folder.identity()}"


def _new_in(left: Place) -> Place | None:
    """What a run was publishing, or put in the place of it."""
    with contextlib.suppress(FileNotFoundError):
        return next((one for one in left.iterdir() if one.name.startswith(_NEW)), None)
    return None
