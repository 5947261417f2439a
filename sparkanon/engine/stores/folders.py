"""Folders on disk: whether they belong to sparkanon, and whether they can be written."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sparkanon.engine.stores.listing import MANIFEST, foreign_files
from sparkanon.errors import InputError, Problem

_NAMED = 3  # files that a message names
_PROBE = 2**16  # bytes: more than a manifest and a report have


def local_path(path: str, where: str = "output.path") -> Path:
    """The folder of a path or file: URL; a link is followed, so that the link itself stays."""
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


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's, or of what is mounted on it."""
    scheme, colon, _ = path.partition(":")
    return not colon or scheme == "file" or "/" in scheme


def check_replaceable(found: Path, output: Path) -> None:
    """Refuse an output folder that is neither empty nor a release of ours without other files."""
    check_ours(found, output, MANIFEST, "output.path", "release")


def check_ours(found: Path, place: Path, mark: str, where: str, what: str) -> None:
    """Refuse a folder without the file `mark` or with foreign files.

    `found` is where its files are now; `place` is its name in messages.
    """
    if not os.path.lexists(found):
        return
    marked = (found / mark).is_file()
    if found.is_symlink() or not found.is_dir() or (not marked and any(found.iterdir())):
        raise no_release(where, str(place), what)
    foreign = foreign_files(found)
    if foreign:
        named = ", ".join(Path(name).name for name in foreign[:_NAMED])
        more = ", ..." if len(foreign) > _NAMED else ""
        one = len(foreign) == 1
        files, were = ("1 file", "was") if one else (f"{len(foreign)} files", "were")
        text = f"{place} holds {files} that did not come with its {what}, or {were} changed since "
        text += f"({named}{more}), and would be gone with it; move such files away and run again"
        raise InputError(Problem(where, text))


def no_release(where: str, place: str, what: str = "release") -> InputError:
    text = f"{place} exists and is no {what} of sparkanon; move it away or choose another"
    return InputError(Problem(where, text))


def is_free(place: Path) -> bool:
    """Whether nothing, or an empty folder, is at this place."""
    if place.is_symlink() or not place.is_dir():
        return not os.path.lexists(place)
    return not any(place.iterdir())


def open_up(folder: Path, beside: Path) -> None:
    """Give files of Spark and its workers the permissions that this process would give them.

    These are taken from a new file, because not only the umask decides about them.
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
    """Refuse a folder that cannot be written or made, before any work is done for it."""
    check_writable(local_path(path, where), where)


def check_writable(folder: Path, where: str, name: str = "x" * 40) -> None:
    """Refuse a folder in which no file of this name can be written. Leaves nothing behind.

    A file is really written, because permissions do not show that a disk is full or read-only.
    """
    try:
        there = next(p for p in (folder, *folder.parents) if _is_there(p))
        _is_there(folder / name)  # fails if the path is too long
        with tempfile.TemporaryFile(prefix=".sparkanon-", dir=there) as file:
            file.write(bytes(_PROBE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        text = f"cannot write in {folder}: {error.strerror}; choose another folder"
        raise InputError(Problem(where, text)) from None


def _is_there(place: Path) -> bool:
    try:
        place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def check_same_disk(folder: Path, output: Path) -> None:
    """Refuse staging on another file system than the output, because a rename publishes."""

    def disk(path: Path) -> int:
        return next(p for p in (path, *path.parents) if p.exists()).stat().st_dev

    if disk(folder) != disk(output.parent):
        text = "must be on the file system of the output, so that one rename can publish"
        raise InputError(Problem("output.staging", text))


@contextlib.contextmanager
def writing(folder: Path, where: str) -> Iterator[None]:
    """Turn errors of the file system into an error in words."""
    try:
        yield
    except OSError as error:
        text = f"cannot write in {folder}: {error.strerror}"
        raise InputError(Problem(where, text)) from None


def sync(folder: Path) -> None:
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
