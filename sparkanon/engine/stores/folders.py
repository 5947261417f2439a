"""Folders that readers see whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

from sparkanon.engine.stores.lease import LEASE, is_stale
from sparkanon.engine.stores.listing import MANIFEST, foreign_files
from sparkanon.engine.stores.owned import Private, remove, taken_away
from sparkanon.engine.stores.swap import exchange, move
from sparkanon.errors import InputError, Problem, SparkanonError

POLL = 0.2  # seconds between two looks at a run that holds the old release
_TRIES = 5
_NAMED = 3  # files that a message names


def local_path(path: str, where: str = "output.path") -> Path:
    """The folder behind a path or file: URL; what a link leads to is replaced, not the link."""
    return Path(os.path.realpath(without_scheme(path, where)))


def without_scheme(path: str, where: str) -> str:
    """A path as given, or that of a file: URL; other stores cannot swap folders atomically."""
    scheme, colon, rest = path.partition(":")
    if colon and len(scheme) > 1 and "/" not in scheme:
        if scheme != "file":
            raise InputError(
                Problem(
                    where,
                    f"a folder on {scheme}: cannot be replaced in one step; "
                    "use format delta or table there",
                )
            )
        return "/" + rest.lstrip("/")
    return path


def check_replaceable(found: Path, output: Path) -> None:
    """Only a release of ours, with nobody else's files, or nothing may stand where one goes."""
    check_ours(found, output, MANIFEST, "output.path", "release")


def check_ours(found: Path, place: Path, mark: str, where: str, what: str) -> None:
    """Refuse what has no file `mark`, or files besides its own; `found` stands at `place`."""
    if not os.path.lexists(found):
        return
    marked = (found / mark).is_file()
    if found.is_symlink() or not found.is_dir() or (not marked and any(found.iterdir())):
        raise no_release(where, str(place), what)
    foreign = foreign_files(found)
    if foreign:
        named = ", ".join(Path(name).name for name in foreign[:_NAMED])
        more = ", ..." if len(foreign) > _NAMED else ""
        files = "1 file" if len(foreign) == 1 else f"{len(foreign)} files"
        text = f"{place} holds {files} that did not come with its {what} ({named}{more}) "
        text += "and would be gone with it; move such files away and run again"
        raise InputError(Problem(where, text))


def no_release(where: str, place: str, what: str = "release") -> InputError:
    text = f"{place} exists and is no {what} of sparkanon; move it away or choose another"
    return InputError(Problem(where, text))


Check = Callable[[Path, Path], None]


class Staging:
    """A private folder, by default beside the output, that is gone when the run is.

    `check` says what may be replaced. A dry run leaves an old release where it is.
    """

    def __init__(
        self,
        output: Path,
        folder: Path | None = None,
        *,
        check: Check = check_replaceable,
        dry_run: bool = False,
    ) -> None:
        self.output, self.folder = output, folder or output.parent
        self._check, self._dry_run = check, dry_run
        # relative: another host may have mounted the disk elsewhere
        self._private = Private(self.folder, os.path.relpath(output, self.folder))
        self.path = self._private.path

    @property
    def table(self) -> Path:
        return self.path / "table"

    def __enter__(self) -> Staging:
        self.mend()
        with _writing(self.folder):
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
        """Give back an old release that a dead run had in its hands; remove what such runs left.

        A run that holds the old release and lives puts its own there in the next moment: wait.
        """
        with _writing(self.folder):
            for left in self._private.others():
                while not self._dry_run and self._has_old(left) and not is_stale(left):
                    sleep(POLL)
            self._clear()

    def _clear(self) -> None:
        for left in self._private.others():
            if is_stale(left):
                self._give_back(left)
                self._remove(left)

    def _remove(self, left: Path) -> None:
        """All of it, but for an old release that cannot go back: somebody's folder is there."""
        if not self._has_old(left):
            remove(left)
            return
        for folder in left.iterdir():
            if folder.name not in ("old", LEASE):
                remove(folder)

    def _has_old(self, left: Path) -> bool:
        """Whether a run stopped between its two renames: what it took is all there is."""
        return (left / "old").exists() and not self._is_published()

    def _is_published(self) -> bool:
        if _is_free(self.output):
            return False
        try:
            self._check(self.output, self.output)
        except InputError:
            return False
        return True

    def _give_back(self, left: Path) -> None:
        if not self._dry_run and self._has_old(left):
            with contextlib.suppress(OSError):
                self.output.rmdir()  # an empty folder that somebody made in the meantime
            with contextlib.suppress(FileExistsError, FileNotFoundError):  # another run was faster
                move(left / "old", self.output)

    def check_held(self) -> None:
        """Fail closed if another run took this folder."""
        self._private.check()

    def publish(self, table: Path) -> None:
        """Put `table` where the output is; readers see the old folder or the new one.

        What stands there is looked at again, and put back if it is not ours to replace.
        """
        with _writing(self.output.parent):
            self.output.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(_TRIES):  # something may appear or go between two steps
                self.check_held()
                with contextlib.suppress(FileExistsError):
                    move(table, self.output)
                    break
                self._check(self.output, self.output)
                with contextlib.suppress(FileNotFoundError):
                    self._swap(table)
                    break
            else:
                text = f"{self.output} comes and goes; does another run publish there?"
                raise InputError(Problem("output.path", text))
            _sync(self.output.parent)

    def _swap(self, table: Path) -> None:
        if exchange(table, self.output):
            try:
                self._check(table, self.output)
            except BaseException:
                exchange(table, self.output)
                raise
            return
        old = self.path / "old"
        os.rename(self.output, old)  # a crash between the two is mended by the next run
        try:
            self._check(old, self.output)
            move(table, self.output)
        except BaseException:
            self._give_back(self.path)
            raise
        remove(old)  # nobody is to take it for the release of a run that has failed


def _is_free(place: Path) -> bool:
    """Whether nothing, or an empty folder, is at this place."""
    if place.is_symlink() or not place.is_dir():
        return not os.path.lexists(place)
    return not any(place.iterdir())


def open_up(folder: Path, beside: Path) -> None:
    """Give what Spark and its workers wrote the permissions that this process would give.

    A new file tells which, because the umask is not all that decides.
    """
    probe = beside / "probe"
    probe.mkdir()
    (probe / "file").touch()
    for_folders, for_files = (stat.S_IMODE(p.stat().st_mode) for p in (probe, probe / "file"))
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            (Path(parent) / name).chmod(for_files)
        Path(parent).chmod(for_folders)


def check_writable_folder(path: str, where: str) -> None:
    """Whether a folder can be written, or made, before any work is done for it."""
    folder = local_path(path, where)
    there = next(p for p in (folder, *folder.parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InputError(Problem(where, f"cannot write in {folder}; choose another folder"))


def check_same_disk(folder: Path, output: Path) -> None:
    """A rename publishes, so staging and output must be on one file system."""

    def disk(path: Path) -> int:
        return next(p for p in (path, *path.parents) if p.exists()).stat().st_dev

    if disk(folder) != disk(output.parent):
        text = "must be on the file system of the output, so that one rename can publish"
        raise InputError(Problem("output.staging", text))


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"cannot write in {folder}: {error.strerror}"
        raise InputError(Problem("output", text)) from None


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def write_atomically(path: Path, text: str, *, shown: bool = False) -> None:
    """Readers see the old file or the new one, and nobody but the owner unless it is `shown`.

    Folders that are missing are made alike; one that stands keeps its permissions.
    """
    make_folder(path.parent, shown=shown)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if shown else 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def make_folder(folder: Path, *, shown: bool = False) -> None:
    """With its parents. For the owner alone unless it is `shown`: then as the umask says."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o777 if shown else 0o700, exist_ok=True)
