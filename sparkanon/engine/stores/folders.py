"""Places on disk: whose they are, and whether they can be written."""

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


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's, or of what is mounted on it."""
    scheme, colon, _ = path.partition(":")
    return not colon or scheme == "file" or "/" in scheme


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
    check_writable(local_path(path, where), where)


def check_writable(folder: Path, where: str, name: str = "x" * 40) -> None:
    """The same of a folder without links, and for a file of this name. Leaves nothing behind.

    Permissions alone do not tell: a disk may be full, or mounted to be read only.
    """
    try:
        there = next(p for p in (folder, *folder.parents) if _is_there(p))
        _is_there(folder / name)  # or it is too long
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
    """A rename publishes, so staging and output must be on one file system."""

    def disk(path: Path) -> int:
        return next(p for p in (path, *path.parents) if p.exists()).stat().st_dev

    if disk(folder) != disk(output.parent):
        text = "must be on the file system of the output, so that one rename can publish"
        raise InputError(Problem("output.staging", text))


@contextlib.contextmanager
def writing(folder: Path, where: str) -> Iterator[None]:
    """Errors of the file system, in words."""
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
