"""The IL-DR score against rows that ROUND prints."""

from __future__ import annotations

import pytest

from sparkanon.measures.score import il_dr_score


@pytest.mark.parametrize(
    ("il_metrics", "il1s", "interval", "linkage", "printed"),
    [
        (103.26, 542.51, 0.05, 0.00, 161.45),  # table 1, MDAV, k = 167
        (43.06, 179.47, 0.24, 0.03, 55.70),  # table 1, MDAV, k = 100
        (3.30, 42.45, 0.75, 0.30, 11.70),  # table 1, VMDAV, k = 20
        (1.29, 24.47, 0.74, 0.32, 6.71),  # table 2, VMDAV, k = 20
    ],
)
def test_published_scores(
    il_metrics: float, il1s: float, interval: float, linkage: float, printed: float
) -> None:
    found = il_dr_score(il_metrics, il1s, linkage=linkage, interval=interval)
    assert found.measure == "il_dr_score"
    assert found.value == pytest.approx(printed, abs=0.0101)  # the terms are rounded


def test_weights() -> None:
    # 0.5 * 10 + 0 * 99 + 20 * 0.25 + 10 * 0.5 = 5 + 5 + 5
    assert il_dr_score(10.0, 99.0, 0.25, 0.5, weights=(0.5, 0.0, 20.0, 10.0)).value == 15.0


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 0.5, 0.5, -0.5), (1, 1, 1, float("nan"))])
def test_bad_weights_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="four weights"):
        il_dr_score(1.0, 1.0, 0.5, 0.5, weights=weights)


def test_percent_for_a_risk_is_refused() -> None:
    with pytest.raises(ValueError, match="not percent"):
        il_dr_score(1.0, 1.0, linkage=31.0, interval=0.75)
