"""What a Python worker of an executor finds out about its own machine.

Spark gets this code itself and not the name of a module, because executors may have no sparkanon,
or another one. So nothing of this package is used before the worker has found the same package.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa

LIBRARIES = ("numpy", "numba", "pyarrow")  # whose versions a release may depend on
Batches = Iterator[pa.RecordBatch]


def looking(sources: str, work: bytes) -> Callable[[Batches], Batches]:
    """For `mapInArrow`: what each worker found, as JSON.

    `work` is a pickled function or None; it is called where the package has these sources.
    """

    def look(batches: Batches) -> Batches:
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(_found(sources, work))]})

    return look


def _found(sources: str, work: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {"host": platform.node(), "python": platform.python_version()}
    found["libraries"] = {name: version_of(name) for name in LIBRARIES}
    place = find_spec("sparkanon")
    if place is None or place.origin is None:
        return found
    folder = Path(place.origin).parent
    found |= {"version": version_of("sparkanon"), "zipped": not folder.is_dir()}
    found["same"] = sources_of(folder) == sources
    if found["zipped"] or not found["same"]:
        return found
    try:
        from sparkanon.numeric.jit import cache_folder
    except ImportError as error:
        return found | {"lacks": error.name or "a library"}
    found["cache"] = _writable(cache_folder())
    asked = pickle.loads(work) if found["cache"] else None  # noqa: S301 (made by our driver)
    if asked is not None:
        asked()
    return found


def version_of(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def sources_of(folder: Path) -> str:
    """A digest of all sources of a package: versions do not show what was changed since."""
    read = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        read.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return read.hexdigest()


def _writable(folder: str) -> str:
    """The folder, if a file can really be written there, else nothing."""
    try:
        with TemporaryFile(dir=folder or "/nowhere") as file:
            file.write(bytes(4096))
            file.flush()
    except OSError:
        return ""
    return folder
