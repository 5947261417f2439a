"""Which files make up a release, so that nobody else's are thrown away with it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

MANIFEST = "_sparkanon.json"  # Spark does not read files that start with an underscore
PAIRING = "_sparkanon_pairing"
FILES = "_sparkanon_files.json"
# what releases consist of that were written before there was a list
_USUAL = re.compile(
    rf"([^/]+=[^/]*/)*(part-[^/]*|_SUCCESS|{re.escape(MANIFEST)}|{PAIRING}|\.[^/]*\.crc)"
)


def list_files(folder: Path) -> None:
    """Write names and sizes of all files of a release into one more, last of all."""
    text = json.dumps({"files": dict(sorted(_sizes(folder).items()))}, indent=0)
    (folder / FILES).write_text(text, encoding="utf-8")


def foreign_files(folder: Path) -> list[str]:
    """Files in the folder of a release that it was not published with, or not in this size."""
    found = _sizes(folder)
    try:
        listed = json.loads((folder / FILES).read_text(encoding="utf-8"))["files"]
        changed = sorted(name for name, size in found.items() if listed.get(name) != size)
    except FileNotFoundError:
        return sorted(name for name in found if not _USUAL.fullmatch(name))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return sorted(found)  # whoever changed the list must look at the files
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
