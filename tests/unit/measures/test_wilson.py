"""The Wilson interval against published numbers and its own defining equation."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sparkanon.measures.wilson import Z95, effective_draws, wilson


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        # Newcombe 1998, table I, method 3: score without continuity correction
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(hits, trials)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("hits", [0.5, 3, 17.25, 99])
def test_both_ends_are_z_standard_errors_from_the_share(hits: float) -> None:
    found = wilson(hits, 100)
    for end in (found.low, found.high):
        assert abs(hits / 100 - end) / sqrt(end * (1 - end) / 100) == pytest.approx(Z95)


def test_ends() -> None:
    assert wilson(0, 50).low == 0.0
    assert wilson(50, 50).high == 1.0
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert wilson(float(np.sum(np.full(300, 1 / 3)) * 3), 300).high == 1.0
    for hits, trials in ((-1, 5), (6, 5), (0, -1), (float("nan"), 5)):
        with pytest.raises(ValueError, match="between 0"):
            wilson(hits, trials)


def test_covers_about_95_per_cent() -> None:
    draws = np.random.default_rng(2).binomial(80, 0.12, 4000)
    covered = [wilson(int(hits), 80).low <= 0.12 <= wilson(int(hits), 80).high for hits in draws]
    assert 0.93 < np.mean(covered) < 0.97


def test_records_with_one_result_are_one_draw() -> None:
    """Clusters of 3, 3 and 1: 7^2 / (9 + 9 + 1); records one by one are what they are."""
    assert effective_draws(7, 19) == pytest.approx(49 / 19)
    assert effective_draws(100, 100) == 100
    assert effective_draws(50, 2500) == 1
    assert effective_draws(0, 0) == 0
