"""Keyed randomness: the same key, step and block, the same draws; anything else, others."""

from __future__ import annotations

import base64
import random
import secrets

import pytest
from seeds import seed_text

from sparkanon.rng import Seed, generator, weakness


def seed(name: str) -> Seed:
    return Seed.from_text(seed_text(name))


def test_draws_depend_on_seed_step_and_block_only() -> None:
    key = seed("a").derive("masking")
    draws = {
        tuple(generator(k, step, block).integers(0, 2**31, 4))
        for k in (key, seed("b").derive("masking"), seed("a").derive("x"))
        for step in ("group", "order")
        for block in (b"0", b"1")
    }
    assert len(draws) == 12
    again = generator(key, "order", b"1").integers(0, 2**31, 4)
    assert tuple(again) in draws


def test_derived_keys_do_not_contain_the_seed() -> None:
    one = seed("a very secret seed")
    assert one.secret not in one.derive("masking")
    assert one.derive("a", "b") != one.derive("ab")


@pytest.mark.parametrize(
    "text",
    [
        "731",
        "correct horse battery staple and several words more",
        "sparkanon-seed-of-the-lake-2026-11-18",
        "0" * 64,
        "0123456789abcdef" * 4,
        "00112233445566778899aabbccddeeff",
        "deadbeef" * 8,
        seed_text()[:16] * 4,
        seed_text()[:31],
        "CorrectHorseBatteryStaple",
        "MySecretSeedForTheLake2026",
        "31415926535897932384626433832795",
    ],
)
def test_what_can_be_guessed_is_no_seed(text: str) -> None:
    with pytest.raises(ValueError):
        Seed.from_text(text)


def test_what_random_generators_write_is_a_seed() -> None:
    generator = random.Random(731)  # always the same: one text in a million has no letter
    for _ in range(2000):
        assert weakness(generator.randbytes(16).hex()) is None
        assert weakness(generator.randbytes(32).hex().upper()) is None


def test_base64_is_taken_but_for_a_few() -> None:
    texts = [secrets.token_urlsafe(32) for _ in range(1000)]
    texts += [base64.b64encode(secrets.token_bytes(32)).decode() for _ in range(1000)]
    assert sum(weakness(text) is not None for text in texts) < 20
