"""Pack the Python that runs this, the packages of sparkanon and sparkanon into one archive.

    make env.tar.gz
    spark-submit --archives env.tar.gz#env --conf spark.pyspark.python=env/bin/python ...

Unlike venv-pack's, it brings the interpreter, so that the cluster's machines need none, and may
be unpacked anywhere. Spark's jars stay out: they are on the cluster.
"""

from __future__ import annotations

import io
import sys
import sysconfig
import tarfile
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path, PurePath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[1]
LIBRARY = PurePath("lib") / f"python{sys.version_info.major}.{sys.version_info.minor}"
SITE = LIBRARY / "site-packages"
_UNUSED = {"__pycache__", "site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip"}
# The interpreter's own library is found beside it, wherever the archive was unpacked.
_LAUNCHER = """#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset PYTHONHOME
exec "$here/bin/interpreter" "$@"
"""


def pack(archive: Path) -> None:
    part = archive.with_name(f"{archive.name}.part")
    with tarfile.open(part, "w:gz", compresslevel=1) as packed:
        launcher = tarfile.TarInfo("bin/python")
        launcher.size, launcher.mode = len(_LAUNCHER), 0o755
        packed.addfile(launcher, io.BytesIO(_LAUNCHER.encode()))
        for place, file in _files():
            packed.add(file.resolve(), str(place), recursive=False)
    part.rename(archive)


def _files() -> Iterator[tuple[PurePath, Path]]:
    """Place in the archive and file, of everything."""
    yield PurePath("bin/interpreter"), Path(sys.executable)
    for library in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython3*.so*"):
        yield PurePath("lib") / library.name, library
    yield from _below(Path(sysconfig.get_path("stdlib")), LIBRARY)
    yield from _below(REPOSITORY / "sparkanon", SITE / "sparkanon")
    for name in _packages():
        for file in distribution(name).files or ():
            jar = file.parts[:2] == ("pyspark", "jars")
            if not jar and not {"..", "__pycache__"} & set(file.parts):
                yield SITE / file, Path(str(file.locate()))


def _below(folder: Path, place: PurePath) -> Iterator[tuple[PurePath, Path]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not _UNUSED & set(inside.parts):
            yield place / inside, path


def _packages() -> set[str]:
    """The distributions that sparkanon needs, and those that these need."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: set[str] = set()
    asked = list(project["dependencies"])
    while asked:
        wanted = Requirement(asked.pop())
        name = canonicalize_name(wanted.name)
        if name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found.add(name)
            asked += distribution(name).requires or ()
    return found


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
