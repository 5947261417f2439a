"""HDFS, object stores, and whatever else Spark reaches through Hadoop's file systems.

This is the only module that calls Hadoop. It does so in the driver's JVM, with the settings that
Spark's own readers and writers have.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import posixpath
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from pyspark.sql import SparkSession

from sparkanon.engine.session.thrown import in_words
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import posix
from sparkanon.errors import InputError, Problem
from sparkanon.urls import OBJECT_STORES, scheme_of

_PROBE = 2**16  # bytes: more than a manifest and a report have
_BUFFER = 4096
_MODES = "fs.capability.paths.permissions"


def locate(spark: SparkSession, path: str, where: str) -> Place:
    """The place of a path as a policy says it, or an error that names `where` in the policy.

    A path without a scheme belongs to Spark's default file system, as it does in Spark itself.
    """
    scheme = scheme_of(path)
    jvm = getattr(spark, "_jvm", None)  # Spark Connect has none
    if scheme == "file" or (scheme is None and jvm is None):
        return posix(path)
    if jvm is None:
        text = f"{path} cannot be reached over Spark Connect, which has no file systems; use a "
        raise InputError(Problem(where, f"{text}path of this machine, or a table of the catalog"))
    try:
        with in_words():
            conf = spark._jsparkSession.sessionState().newHadoopConf()
            if scheme is None and _default_scheme(jvm, conf) == "file":
                return posix(path)
            return _located(spark, conf, path)
    except OSError as error:
        raise InputError(Problem(where, f"{path} cannot be used: {error.strerror}")) from None


def _default_scheme(jvm: Any, conf: Any) -> str:
    return str(jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(conf).getScheme() or "file")


def _located(spark: SparkSession, conf: Any, path: str) -> Hadoop:
    gateway: Any = spark._sc._gateway
    asked = gateway.jvm.org.apache.hadoop.fs.Path(path)
    files = asked.getFileSystem(conf)
    address = files.makeQualified(asked).toUri()
    scheme, root = address.getScheme(), f"{address.getScheme()}://{address.getAuthority() or ''}"
    folders = scheme not in OBJECT_STORES and files.hasPathCapability(asked, _MODES)
    store = _Store(gateway, conf, files, bool(folders))
    return Hadoop(root, PurePosixPath(address.getPath() or "/"), store)


@dataclass
class _Store:
    """One file system of Hadoop, as the driver's JVM has it open."""

    gateway: Any
    conf: Any
    files: Any
    has_folders: bool
    ahead: float = 0.0  # seconds by which its clock is ahead of ours

    @cached_property
    def hadoop(self) -> Any:
        return self.gateway.jvm.org.apache.hadoop

    @cached_property
    def context(self) -> Any:
        """Hadoop's other face of a file system, which has renames that replace nothing."""
        return self.hadoop.fs.FileContext.getFileContext(self.files.getUri(), self.conf)

    @cached_property
    def user(self) -> str:
        return str(self.hadoop.security.UserGroupInformation.getCurrentUser().getShortUserName())

    def permission(self, mode: int) -> Any:
        return self.hadoop.fs.permission.FsPermission(f"{mode:o}")


@dataclass(frozen=True)
class Hadoop:
    """What `Place` says, on a file system of Hadoop. Modes are changed by Hadoop's umask."""

    root: str  # scheme and authority
    path: PurePosixPath
    _store: _Store = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.url

    # --- names

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def parent(self) -> Hadoop:
        return replace(self, path=self.path.parent)

    @property
    def url(self) -> str:
        return f"{self.root}{self.path}"

    def __truediv__(self, name: str) -> Hadoop:
        return replace(self, path=self.path / name)

    def with_name(self, name: str) -> Hadoop:
        return replace(self, path=self.path.with_name(name))

    def seen_from(self, folder: Place) -> str:
        if isinstance(folder, Hadoop) and folder.root == self.root:
            return posixpath.relpath(self.path, folder.path)
        return self.url

    def is_inside(self, folder: Place) -> bool:
        if not isinstance(folder, Hadoop) or folder.root != self.root:
            return False
        return self.path.is_relative_to(folder.path)

    # --- the store

    @property
    def has_folders(self) -> bool:
        return self._store.has_folders

    def disk(self) -> object:
        """A path of `viewfs` resolves to one of another file system."""
        with in_words():
            found = next(p for p in (self, *self._parents()) if p.is_there())
            address = self._files.resolvePath(found._path).toUri()
            return f"{address.getScheme()}://{address.getAuthority() or ''}"

    def now(self) -> float:
        probe = self / f".sparkanon-now-{secrets.token_hex(8)}"
        probe._write(b"", 0o600)
        try:
            return probe.touched()
        finally:
            probe.unlink()

    # --- looking

    def is_there(self) -> bool:
        return self._status() is not None

    def is_dir(self) -> bool:
        status = self._status()
        return status is not None and bool(status.isDirectory())

    def is_file(self) -> bool:
        status = self._status()
        return status is not None and bool(status.isFile())

    def is_symlink(self) -> bool:
        return False

    def is_mount(self) -> bool:
        return self.path == self.path.parent

    def is_own(self) -> bool:
        """An object store has no owners, but nor has it others' folders in a private prefix."""
        status = self._status()
        if status is None or not status.isDirectory():
            return False
        return not self.has_folders or status.getOwner() == self._store.user

    def iterdir(self) -> Iterator[Hadoop]:
        with in_words():
            names = [str(one.getPath().getName()) for one in self._files.listStatus(self._path)]
        return (self / name for name in names)

    def sizes(self) -> dict[str, int]:
        return {name: int(status.getLen()) for name, status in self._inside()}

    def identity(self) -> str:
        return ""

    def _status(self) -> Any | None:
        try:
            with in_words():
                return self._files.getFileStatus(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _inside(self) -> Iterator[tuple[str, Any]]:
        """All files in this folder and in those inside."""
        with in_words():
            found = self._files.listFiles(self._path, True)
            while found.hasNext():
                status = found.next()
                path = PurePosixPath(status.getPath().toUri().getPath())
                yield str(path.relative_to(self.path)), status

    # --- small files

    def start(self, most: int) -> str:
        with in_words():
            stream = self._files.open(self._path)
            try:
                data = bytes(stream.readNBytes(4 * most))
            finally:
                stream.close()
        whole = len(data) < 4 * most
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)[:most]

    def write_text(self, data: str, encoding: str) -> None:
        self._write(data.encode(encoding), 0o666, overwrite=True)

    def create(self, data: bytes) -> None:
        self._write(data, 0o600)
        self._store.ahead = self.touched() - time.time()

    def replace_text(self, text: str, *, shown: bool = False) -> None:
        data, mode = text.encode(), 0o666 if shown else 0o600
        if not self.has_folders:  # an object is there as a whole, or not at all
            self._write(data, mode, overwrite=True)
            return
        self.parent.make_folder(shown=shown)
        part = self.with_name(f".{self.name}.{secrets.token_hex(4)}")
        try:
            part._write(data, mode)
            part._rename(self, "OVERWRITE")
        finally:
            part.unlink()

    def unlink(self) -> None:
        with in_words():
            self._files.delete(self._path, False)

    def renew(self, token: bytes) -> bool:
        """A folder with a random name is made once, so the file is ours if it is there."""
        try:
            if not self.has_folders:  # objects cannot be touched
                there = self.is_file()
                if there:
                    self._write(token, 0o600, overwrite=True)
                return there
            now = int(1000 * (time.time() + self._store.ahead))
            with in_words():
                self._files.setTimes(self._path, now, -1)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def touched(self) -> float:
        """A prefix in an object store is as old as the youngest object in it."""
        status = self._status()
        if status is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if status.isDirectory() and not self.has_folders:
            return max((s.getModificationTime() / 1000 for _, s in self._inside()), default=0.0)
        return float(status.getModificationTime() / 1000)

    def _write(self, data: bytes, mode: int, *, overwrite: bool = False) -> None:
        files, path, chosen = self._files, self._path, self._store.permission(mode)
        with in_words():
            copies, size = files.getDefaultReplication(path), files.getDefaultBlockSize(path)
            stream = files.create(path, chosen, overwrite, _BUFFER, copies, size, None)
            try:
                stream.write(data)
            finally:
                stream.close()

    # --- folders

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if self.is_there():
            if exist_ok and self.is_dir():
                return
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with in_words():
            self._files.mkdirs(self._path, self._store.permission(mode))

    def make_folder(self, *, shown: bool = False) -> None:
        if not self.has_folders:
            return
        missing = [one for one in (self, *self._parents()) if not one.is_there()]
        for one in reversed(missing):
            one.mkdir(0o777 if shown else 0o700, exist_ok=True)

    def rmdir(self) -> None:
        if not self.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        self.unlink()  # which fails if there is something in it

    def remove_tree(self) -> None:
        with in_words():
            self._files.delete(self._path, True)

    def rename(self, target: Hadoop) -> Hadoop:
        self._rename(target, "NONE")
        return target

    def move(self, to: Hadoop) -> None:
        self._rename(to, "NONE")

    def exchange(self, other: Hadoop) -> bool:
        return False

    def _rename(self, to: Hadoop, how: str) -> None:
        store = self._store
        with in_words():
            kinds = getattr(store.hadoop.fs, "Options$Rename")
            chosen = store.gateway.new_array(kinds, 1)
            chosen[0] = kinds.valueOf(how)
            store.context.rename(self._path, to._path, chosen)

    def open_up(self, beside: Hadoop) -> None:
        """The folder alone, because Spark and we write files with Hadoop's umask anyway."""
        probe = beside / "probe"
        probe.mkdir()
        with in_words():
            usual = self._files.getFileStatus(probe._path).getPermission()
            self._files.setPermission(self._path, usual)

    def close_up(self) -> None:
        """The folder alone, because nobody gets to what is in it any other way."""
        if self.has_folders:
            with in_words():
                self._files.setPermission(self._path, self._store.permission(0o700))

    def try_to_write(self, name: str) -> None:
        there: Hadoop = self
        if self.has_folders:
            there = next(p for p in (self, *self._parents()) if p.is_there())
            if not there.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        probe = there / f".sparkanon-{secrets.token_hex(8)}"
        try:
            probe._write(bytes(_PROBE), 0o600)
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    def sync(self) -> None:
        """Hadoop's file systems rename for good, or not at all."""

    def _parents(self) -> tuple[Hadoop, ...]:
        return tuple(replace(self, path=path) for path in self.path.parents)

    @property
    def _files(self) -> Any:
        return self._store.files

    @property
    def _path(self) -> Any:
        return self._store.hadoop.fs.Path(self.url)
