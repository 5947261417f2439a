"""Keyed randomness: every draw comes from (secret seed, purpose, rows) and from nothing else."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Seed:
    """A secret. It can be used and committed to, but prints and pickles nothing by accident."""

    secret: bytes = field(repr=False)
    drawn: bool = False  # True if it was drawn for this run, which then cannot be repeated

    @classmethod
    def from_text(cls, text: str) -> Seed:
        """A seed that somebody made with a random generator; ValueError if it looks otherwise."""
        problem = weakness(text)
        if problem is not None:
            raise ValueError(problem)
        return cls(text.encode())

    @classmethod
    def draw(cls) -> Seed:
        return cls(secrets.token_bytes(32), drawn=True)

    def derive(self, *path: str | int) -> bytes:
        """32 bytes for one purpose; purposes do not reveal each other or the seed."""
        message = "\x1f".join(str(part) for part in path).encode()
        return hmac.new(self.secret, message, hashlib.sha256).digest()

    def commitment(self, run_id: str) -> str:
        """A slow salted hash: the holder of the seed can prove it. It never leaves the runs."""
        return hashlib.scrypt(self.secret, salt=run_id.encode(), n=2**14, r=8, p=1).hex()[:64]


def weakness(text: str) -> str | None:
    """Why a text cannot be 128 random bits, or None; no test can prove that it is random.

    Of what a random generator writes, one base64 text in a thousand is refused, and next to no
    hexadecimal one. Words, phrases, dates, repeated and counted digits are.
    """
    if re.fullmatch(r"[0-9a-fA-F]+", text):
        least, several = 32, 8
    elif re.fullmatch(r"[A-Za-z0-9+/_-]+=*", text):
        # twice as much, because CorrectHorseBatteryStaple has the form of base64, too
        text, least, several = text.rstrip("="), 43, 12
        if _changes(text) < 0.4 * len(text):
            return "reads like words: no random generator made it"
    else:
        return "is neither hexadecimal nor base64, as random generators write"
    if len(text) < least:
        return f"is too short: {len(text)} digits where {least} are needed"
    steps = {ord(b) - ord(a) for a, b in pairwise(text)}
    repeats = text in (text + text)[1:-1]
    if len(set(text)) < several or len(steps) < 8 or repeats or text.isdecimal():
        return "repeats or counts, or has decimal digits only: no random generator made it"
    return None


def _changes(text: str) -> int:
    """How often capitals, small letters and other characters take turns."""
    kinds = [(letter.isupper(), letter.islower()) for letter in text]
    return sum(a != b for a, b in pairwise(kinds))


def generator(key: bytes, step: str, block: bytes) -> np.random.Generator:
    """The random generator of one step in one block, from a derived key.

    `block` is a digest of the block's rows. A number of the block would be the same in every
    release, and the draws of one release must not be repeated in another.
    """
    digest = hmac.new(key, step.encode() + b"\x1f" + block, hashlib.sha256).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest[:16], dtype=np.uint64)))
