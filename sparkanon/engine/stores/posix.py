"""Files and folders on the disks of this machine, and on those it has mounted."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path, PosixPath

from sparkanon.atomic import make_folder, write_atomically
from sparkanon.engine.stores import swap
from sparkanon.engine.stores.place import Place
from sparkanon.urls import without_file

_PROBE = 2**16  # bytes: more than a manifest and a report have


class Posix(PosixPath):
    """A path that can do what `Place` says; the rest of it is pathlib's."""

    has_folders = True

    @property
    def url(self) -> str:
        return f"file://{self.absolute()}"

    def seen_from(self, folder: Place) -> str:
        return os.path.relpath(self, folder) if isinstance(folder, Posix) else self.url

    def is_inside(self, folder: Place) -> bool:
        return isinstance(folder, Posix) and self.is_relative_to(folder)

    def disk(self) -> object:
        return next(p for p in (self, *self.parents) if p.exists()).stat().st_dev

    def now(self) -> float:
        """That of the file system, which may be another host's."""
        with tempfile.TemporaryFile(dir=self) as file:
            file.write(b"now")
            file.flush()
            return os.fstat(file.fileno()).st_mtime

    def is_there(self) -> bool:
        return os.path.lexists(self)

    def is_mount(self) -> bool:
        return os.path.ismount(self)

    def is_own(self) -> bool:
        try:
            found = self.lstat()
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()

    def sizes(self) -> dict[str, int]:
        """A link to a folder counts as a file."""
        found: dict[str, int] = {}
        for parent, folders, files in os.walk(self, onerror=_fail):
            links = [name for name in folders if (Path(parent) / name).is_symlink()]
            for path in (Path(parent) / name for name in files + links):
                found[path.relative_to(self).as_posix()] = path.lstat().st_size
        return found

    def identity(self) -> str:
        return str(self.lstat().st_ino)

    def start(self, most: int) -> str:
        with self.open(encoding="utf-8") as file:
            return file.read(most)

    def create(self, data: bytes) -> None:
        number = os.open(self, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(data)

    def replace_text(self, text: str, *, shown: bool = False) -> None:
        write_atomically(self, text, shown=shown)

    def renew(self, token: bytes) -> bool:
        try:
            number = os.open(self, os.O_RDWR)
        except OSError:
            return False
        try:
            ours = os.read(number, len(token) + 1) == token
            if ours:
                os.utime(number)
            return ours
        except OSError:
            return False
        finally:
            os.close(number)

    def touched(self) -> float:
        # The file is opened, because network file systems may answer a plain stat from a cache.
        number = os.open(self, os.O_RDONLY)
        try:
            return os.fstat(number).st_mtime
        finally:
            os.close(number)

    def make_folder(self, *, shown: bool = False) -> None:
        make_folder(self, shown=shown)

    def remove_tree(self) -> None:
        shutil.rmtree(self)

    def move(self, to: Path) -> None:
        swap.move(self, to)

    def exchange(self, other: Path) -> bool:
        return swap.exchange(self, other)

    def open_up(self, beside: Path) -> None:
        """As a new file shows them, because not only the umask decides about permissions."""
        probe = beside / "probe"
        probe.mkdir()
        (probe / "file").touch()
        self._set_modes(*(stat.S_IMODE(p.stat().st_mode) for p in (probe, probe / "file")))

    def close_up(self) -> None:
        self._set_modes(0o700, 0o600)

    def _set_modes(self, for_folders: int, for_files: int) -> None:
        for parent, _, names in os.walk(self, topdown=False):
            for name in names:
                (Path(parent) / name).chmod(for_files)
            Path(parent).chmod(for_folders)

    def try_to_write(self, name: str) -> None:
        there = next(p for p in (self, *self.parents) if _exists(p))
        _exists(self / name)  # fails if the path is too long
        with tempfile.TemporaryFile(prefix=".sparkanon-", dir=there) as file:
            file.write(bytes(_PROBE))
            file.flush()
            os.fsync(file.fileno())

    def sync(self) -> None:
        with contextlib.suppress(OSError):
            number = os.open(self, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)


def posix(path: str) -> Posix:
    """The place of a path or file: URL; a link is followed, so that the link itself stays."""
    return Posix(os.path.realpath(without_file(path)))


def _exists(place: Path) -> bool:
    try:
        place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _fail(error: OSError) -> None:
    raise error
