"""Keyed randomness: every draw comes from (secret seed, step, block) and from nothing else."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Seed:
    """A secret. It can be used and committed to, but prints and pickles nothing by accident."""

    secret: bytes = field(repr=False)
    drawn: bool = False  # True when nobody gave it, so the run cannot be repeated

    @classmethod
    def from_text(cls, text: str) -> Seed:
        return cls(text.encode())

    @classmethod
    def draw(cls) -> Seed:
        return cls(secrets.token_bytes(32), drawn=True)

    def derive(self, *path: str | int) -> bytes:
        """32 bytes for one purpose; purposes do not reveal each other or the seed."""
        message = "\x1f".join(str(part) for part in path).encode()
        return hmac.new(self.secret, message, hashlib.sha256).digest()

    def commitment(self, run_id: str) -> str:
        """A slow salted hash: the holder of the seed can prove it, others cannot guess it."""
        return hashlib.scrypt(self.secret, salt=run_id.encode(), n=2**14, r=8, p=1).hex()[:64]


def generator(key: bytes, step: str, block: int) -> np.random.Generator:
    """The random generator of one step in one block, from a derived key."""
    digest = hmac.new(key, f"{step}\x1f{block}".encode(), hashlib.sha256).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest[:16], dtype=np.uint64)))
