"""Private folders that hold raw rows for a while: who owns one, and how none is left.

The owner stands in the folder's name, so no folder is ever without one: not while it is made or
removed, and not if a lost task of the JVM makes it anew.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import socket
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_TRIES, _PAUSE = 100, 0.05  # a task that writes right now is done or dead within seconds


def mark(purpose: str) -> str:
    """The end of a folder's name that says which process of which host made it, and for what."""
    return f"{_ours(purpose)}{os.getpid()}"


def left_behind(parent: Path, purpose: str) -> Iterator[Path]:
    """Folders of this purpose whose process, of this host, is no more."""
    for folder in sorted(parent.glob(f"*{_ours(purpose)}*")):
        pid = folder.name.rpartition(_ours(purpose))[2].partition("~")[0]
        mine = folder.is_dir() and folder.lstat().st_uid == os.getuid()
        if mine and pid.isdecimal() and not _alive(int(pid)):
            yield folder


def remove(folder: Path) -> None:
    """Remove a folder that lost tasks may still write into.

    Under another name it is out of their reach, and only what they create in that very moment
    can still appear. If it does not go, the next run of this host tries again.
    """
    aside = folder.with_name(f"{folder.name}~{uuid.uuid4().hex[:8]}")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    except OSError:
        aside = folder
    for _ in range(_TRIES):
        try:
            shutil.rmtree(aside)
        except OSError:
            time.sleep(_PAUSE)
        if not aside.exists():
            return
    warnings.warn(f"cannot remove {aside}; it holds private rows", stacklevel=2)


@cache
def scratch() -> Path:
    """A private folder of this process, for releases that have no output of their own."""
    for folder in left_behind(Path(tempfile.gettempdir()), "scratch"):
        remove(folder)
    made = Path(tempfile.mkdtemp(prefix="sparkanon-", suffix=mark("scratch")))
    atexit.register(remove, made)
    return made


def _ours(purpose: str) -> str:
    told = f"{socket.gethostname()}\0{purpose}".encode()
    return f".{hashlib.sha256(told).hexdigest()[:12]}."


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
