"""Folders that readers see whole or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

from sparkanon.engine.owned import left_behind, mark, remove
from sparkanon.errors import InputError, Problem

MANIFEST = "_sparkanon.json"  # Spark does not read files that start with an underscore
_AT_FDCWD = -100
_EXCHANGE = 2


def local_path(path: str, where: str = "output.path") -> Path:
    """The folder behind a path or file: URL; other stores cannot swap folders atomically."""
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
        path = "/" + rest.lstrip("/")
    return Path(os.path.realpath(path))  # what a link leads to is replaced, not the link


class Staging:
    """A private folder, by default beside the output, that is gone when the run is."""

    def __init__(self, output: Path, run_id: str, folder: Path | None = None) -> None:
        self.folder = folder or output.parent
        self.path = self.folder / f".sparkanon-{output.name}-{run_id}{mark(str(output))}"
        self.output = output

    @property
    def table(self) -> Path:
        return self.path / "table"

    def __enter__(self) -> Staging:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in left_behind(self.folder, str(self.output)):
                self._clear(left)
            self.path.mkdir(mode=0o700)
        except OSError as error:
            raise InputError(
                Problem("output", f"cannot write in {self.folder}: {error.strerror}")
            ) from None
        return self

    def __exit__(self, *failure: object) -> None:
        self._clear(self.path)

    def _clear(self, left: Path) -> None:
        """Remove what a run left; give back an old release it had in its hands."""
        if (left / "old").exists() and not self.output.exists():
            os.rename(left / "old", self.output)
        remove(left)

    def publish(self, table: Path) -> None:
        """Put `table` where the output is; readers see the old folder or the new one."""
        self.output.parent.mkdir(parents=True, exist_ok=True)
        if not self.output.exists():
            os.rename(table, self.output)
        elif not _exchange(table, self.output):
            old = self.path / "old"
            os.rename(self.output, old)  # a crash between the two is mended by the next run
            os.rename(table, self.output)
        _sync(self.output.parent)


def check_replaceable(output: Path) -> None:
    """Only a release of ours, or nothing, may stand where a release goes."""
    if not output.exists():
        return
    if output.is_dir() and ((output / MANIFEST).is_file() or not any(output.iterdir())):
        return
    raise no_release("output.path", str(output))


def no_release(where: str, place: str) -> InputError:
    text = f"{place} exists and is no release of sparkanon; move it away or choose another"
    return InputError(Problem(where, text))


def check_same_disk(folder: Path, output: Path) -> None:
    """A rename publishes, so staging and output must be on one file system."""

    def disk(path: Path) -> int:
        return next(p for p in (path, *path.parents) if p.exists()).stat().st_dev

    if disk(folder) != disk(output.parent):
        text = "must be on the file system of the output, so that one rename can publish"
        raise InputError(Problem("output.staging", text))


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one system call, where the system can."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        paths = os.fsencode(one), os.fsencode(other)
        return bool(libc.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _EXCHANGE) == 0)
    return False


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
