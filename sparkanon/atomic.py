"""Small files that readers see as they were or as they will be, never in part."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, text: str, *, shown: bool = False) -> None:
    """Write or replace a text file; a failure leaves nothing beside it.

    Only the owner may read it, unless it is `shown`. Missing folders are made with the same
    permissions; folders that exist keep theirs.
    """
    make_folder(path.parent, shown=shown)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if shown else 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def make_folder(folder: Path, *, shown: bool = False) -> None:
    """Make a folder and its parents, for the owner alone, or by the umask if it is `shown`."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o777 if shown else 0o700, exist_ok=True)
