"""Seeds for tests: as long as real ones, and the same in every run."""

from __future__ import annotations

import hashlib
from pathlib import Path


def seed_text(name: str = "a seed for tests") -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def seed_file(folder: Path, name: str = "a seed for tests", file: str = "seed.txt") -> str:
    """A file that only its owner can read, as the policy demands."""
    path = folder / file
    path.write_text(seed_text(name) + "\n")
    path.chmod(0o600)
    return str(path)
