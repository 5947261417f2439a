"""Renames that replace nothing by accident."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
_IN_THE_WAY = (errno.ENOTEMPTY, errno.ENOTDIR)


def move(folder: Path, to: Path) -> None:
    """Rename a folder to a name that is free; FileExistsError if it is not."""
    if _renameat2(folder, to, _NOREPLACE):
        return
    try:
        os.rename(folder, to)  # can replace an empty folder only
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to)) from None
        raise


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step; False where the file system cannot."""
    return _renameat2(one, other, _EXCHANGE)


def _renameat2(one: Path, other: Path, flag: int) -> bool:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
