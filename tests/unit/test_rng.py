"""Keyed randomness: the same key, step and block, the same draws; anything else, others."""

from __future__ import annotations

from sparkanon.rng import Seed, generator


def test_draws_depend_on_seed_step_and_block_only() -> None:
    key = Seed.from_text("a").derive("masking")
    draws = {
        tuple(generator(k, step, block).integers(0, 2**31, 4))
        for k in (key, Seed.from_text("b").derive("masking"), Seed.from_text("a").derive("x"))
        for step in ("group", "order")
        for block in (0, 1)
    }
    assert len(draws) == 12
    again = generator(key, "order", 1).integers(0, 2**31, 4)
    assert tuple(again) in draws


def test_derived_keys_do_not_contain_the_seed() -> None:
    seed = Seed.from_text("a very secret seed")
    assert b"secret" not in seed.derive("masking")
    assert seed.derive("a", "b") != seed.derive("ab")
