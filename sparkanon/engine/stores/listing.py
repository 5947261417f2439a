"""Which files make up a release, so that nobody else's are thrown away with it."""

from __future__ import annotations

import json
import re

from sparkanon.engine.stores.place import Place

MANIFEST = "_sparkanon.json"  # Spark does not read files that start with an underscore
PAIRING = "_sparkanon_pairing"
FILES = "_sparkanon_files.json"
_LONGEST = 2**28  # characters of that list
# Names of the files of releases that were written by versions without a list.
_USUAL = re.compile(
    rf"([^/]+=[^/]*/)*(part-[^/]*|_SUCCESS|{re.escape(MANIFEST)}|{PAIRING}|\.[^/]*\.crc)"
)


def list_files(folder: Place) -> None:
    """Write a last file with the names and sizes of all other files of a release."""
    text = json.dumps({"files": dict(sorted(_sizes(folder).items()))}, indent=0)
    (folder / FILES).write_text(text, "utf-8")


def foreign_files(folder: Place) -> list[str]:
    """Files in the folder of a release that are not in its list, or have another size there."""
    found = _sizes(folder)
    try:
        listed = json.loads((folder / FILES).start(_LONGEST))["files"]
        changed = sorted(name for name, size in found.items() if listed.get(name) != size)
    except FileNotFoundError:
        return sorted(name for name in found if not _USUAL.fullmatch(name))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return sorted(found)  # the list cannot be read, so no file counts as published
    return changed


def _sizes(folder: Place) -> dict[str, int]:
    sizes = folder.sizes()
    sizes.pop(FILES, None)
    return sizes
