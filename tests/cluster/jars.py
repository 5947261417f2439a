"""The jars of the clusters, fetched once into a cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pyspark

_WANTED = Path(__file__).with_name("jars.xml")
SPARK = Path(pyspark.__file__).parent


def jars() -> Path:
    """A folder with the jars of jars.xml; a second run of the tests finds it there."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    version = hashlib.sha256(_WANTED.read_bytes()).hexdigest()[:12]
    folder = Path(base) / "sparkanon-cluster-test" / version
    if not folder.exists():
        fetched = folder.with_name(f"{version}.{os.getpid()}")
        ivy = ["java", "-jar", str(next((SPARK / "jars").glob("ivy-*.jar"))), "-warn"]
        what = ["-ivy", str(_WANTED), "-retrieve", f"{fetched}/[artifact]-[revision].[ext]"]
        cache = ["-cache", f"{fetched}.ivy"]
        subprocess.run([*ivy, *what, *cache], check=True, stdout=subprocess.DEVNULL)
        fetched.rename(folder)
        shutil.rmtree(f"{fetched}.ivy")
    return folder
