"""Folders: whether they belong to sparkanon, and whether they can be written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from sparkanon.engine.stores.listing import MANIFEST, foreign_files
from sparkanon.engine.stores.place import Place
from sparkanon.errors import InputError, Problem

_NAMED = 3  # files that a message names


def check_replaceable(found: Place, output: Place) -> None:
    """Refuse an output folder that is neither empty nor a release of ours without other files."""
    check_ours(found, output, MANIFEST, "output.path", "release")


def check_ours(found: Place, place: Place, mark: str, where: str, what: str) -> None:
    """Refuse a folder without the file `mark` or with foreign files.

    `found` is where its files are now; `place` is its name in messages.
    """
    if not found.is_there():
        return
    marked = (found / mark).is_file()
    if found.is_symlink() or not found.is_dir() or (not marked and any(found.iterdir())):
        raise no_release(where, str(place), what)
    foreign = foreign_files(found)
    if foreign:
        named = ", ".join(PurePosixPath(name).name for name in foreign[:_NAMED])
        more = ", ..." if len(foreign) > _NAMED else ""
        one = len(foreign) == 1
        files, were = ("1 file", "was") if one else (f"{len(foreign)} files", "were")
        text = f"{place} holds {files} that did not come with its {what}, or {were} changed since "
        text += f"({named}{more}), and would be gone with it; move such files away and run again"
        raise InputError(Problem(where, text))


def no_release(where: str, place: str, what: str = "release") -> InputError:
    text = f"{place} exists and is no {what} of sparkanon; move it away or choose another"
    return InputError(Problem(where, text))


def is_free(place: Place) -> bool:
    """Whether nothing, or an empty folder, is at this place."""
    if place.is_symlink() or not place.is_dir():
        return not place.is_there()
    return not any(place.iterdir())


def check_writable(folder: Place, where: str, name: str = "x" * 40) -> None:
    """Refuse a folder in which no file of this name can be written, before any work is done."""
    try:
        folder.try_to_write(name)
    except OSError as error:
        text = f"cannot write in {folder}: {error.strerror}; choose another folder"
        raise InputError(Problem(where, text)) from None


def check_same_disk(folder: Place, output: Place) -> None:
    """Refuse staging on another file system than the output, because a rename publishes."""
    if folder.disk() != output.parent.disk():
        text = "must be on the file system of the output, so that one rename can publish"
        raise InputError(Problem("output.staging", text))


@contextlib.contextmanager
def writing(folder: Place, where: str) -> Iterator[None]:
    """Turn errors of the file system into an error in words."""
    try:
        yield
    except OSError as error:
        text = f"cannot write in {folder}: {error.strerror}"
        raise InputError(Problem(where, text)) from None
