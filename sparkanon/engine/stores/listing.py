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
    """Write the names of all files of a release into one more."""
    names = sorted({*_names(folder), FILES})
    (folder / FILES).write_text(json.dumps({"files": names}, indent=0), encoding="utf-8")


def foreign_files(folder: Path) -> list[str]:
    """Files in the folder of a release that it was not published with."""
    found = _names(folder)
    try:
        listed = set(json.loads((folder / FILES).read_text(encoding="utf-8"))["files"])
    except FileNotFoundError:
        return sorted(name for name in found if not _USUAL.fullmatch(name))
    except (ValueError, KeyError, TypeError, RecursionError):
        listed = set()  # whoever changed the list must look at the files
    return sorted(found - listed)


def _names(folder: Path) -> set[str]:
    names = set()
    for parent, folders, files in os.walk(folder, onerror=_fail):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        names |= {(Path(parent) / name).relative_to(folder).as_posix() for name in files + links}
    return names


def _fail(error: OSError) -> None:
    raise error
