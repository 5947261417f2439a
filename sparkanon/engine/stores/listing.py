"""Which files make up a release, so that nobody else's are thrown away with it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

MANIFEST = "_sparkanon.json"  # Spark does not read files that start with an underscore
PAIRING = "_sparkanon_pairing"
FILES = "_sparkanon_files.json"
# Names of the files of releases that were written by versions without a list.
_USUAL = re.compile(
    rf"([^/]+=[^/]*/)*(part-[^/]*|_SUCCESS|{re.escape(MANIFEST)}|{PAIRING}|\.[^/]*\.crc)"
)


def list_files(folder: Path) -> None:
    """Write a last file with the names and sizes of all other files of a release."""
    text = json.dumps({"files": dict(sorted(_sizes(folder).items()))}, indent=0)
    (folder / FILES).write_text(text, encoding="utf-8")


def foreign_files(folder: Path) -> list[str]:
    """Files in the folder of a release that are not in its list, or have another size there."""
    found = _sizes(folder)
    try:
        listed = json.loads((folder / FILES).read_text(encoding="utf-8"))["files"]
        changed = sorted(name for name, size in found.items() if listed.get(name) != size)
    except FileNotFoundError:
        return sorted(name for name in found if not _USUAL.fullmatch(name))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return sorted(found)  # the list cannot be read, so no file counts as published
    return changed


def _sizes(folder: Path) -> dict[str, int]:
    """Every file but the list by its path in the folder; a link to a folder counts as a file."""
    sizes: dict[str, int] = {}
    for parent, folders, files in os.walk(folder, onerror=_fail):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        for path in (Path(parent) / name for name in files + links):
            sizes[path.relative_to(folder).as_posix()] = path.lstat().st_size
    sizes.pop(FILES, None)
    return sizes


def _fail(error: OSError) -> None:
    raise error
