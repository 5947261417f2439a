"""Paths and URLs, as policies and the command line say where something is."""

from __future__ import annotations

# Object stores have no folders that could be renamed in one step, and no permissions of files.
OBJECT_STORES = frozenset(
    {"s3", "s3a", "s3n", "abfs", "abfss", "wasb", "wasbs", "adl", "gs", "oss", "cosn", "obs"}
    | {"o3fs", "ofs", "swift", "dbfs"}
)


def scheme_of(path: str) -> str | None:
    """The scheme of a URL; None for a path. One letter is no scheme, nor is what has a slash."""
    scheme, colon, _ = path.partition(":")
    return scheme if colon and len(scheme) > 1 and "/" not in scheme else None


def is_elsewhere(path: str) -> bool:
    """Whether a URL is one of a store, which Spark reaches, and not of this machine."""
    return scheme_of(path) not in (None, "file")


def without_file(path: str) -> str:
    """file:/a, file:///a and /a are one place."""
    return "/" + path[5:].lstrip("/") if path.startswith("file:") else path
