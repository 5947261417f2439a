"""The IL-DR score against rows that ROUND prints."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from toys import taken

from sparkanon.measures import Measure
from sparkanon.measures.base import Taken
from sparkanon.measures.score import TERMS, IlDrScore


def score(*terms: Measure | float | None, spec: IlDrScore | None = None) -> Measure:
    known = {
        Taken(name): (one if isinstance(one, Measure) else Measure(name, one),)
        for name, one in zip(TERMS, terms, strict=True)
    }
    (found,) = taken([spec or IlDrScore()], known, [])
    return found


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
    found = score(il_metrics, il1s, linkage, interval)
    assert found.measure == "il_dr_score"
    assert found.value == pytest.approx(printed, abs=0.0101)  # the terms are rounded


def test_weights() -> None:
    # 0.5 * 10 + 0 * 99 + 20 * 0.25 + 10 * 0.5 = 5 + 5 + 5
    spec = IlDrScore(weights=(0.5, 0.0, 20.0, 10.0))
    assert score(10.0, 99.0, 0.25, 0.5, spec=spec).value == 15.0


def test_a_sampled_linkage_makes_an_interval() -> None:
    # 0.25 * (10 + 20 + 0.4 + 0.2) = 7.65, and 0.025 less or more at the ends 0.3 and 0.5
    linkage = Measure("linkage_masked_to_original", 0.4, None, 0.3, 0.5)
    found = score(10.0, 20.0, linkage, 0.2)
    assert (found.value, found.low, found.high) == pytest.approx((7.65, 7.625, 7.675))
    exact = score(10.0, 20.0, 0.4, 0.2)
    assert (exact.low, exact.high) == (None, None)


def test_a_term_that_is_missing_leaves_no_score() -> None:
    assert score(None, 20.0, 0.4, 0.2).value is None


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 0.5, 0.5, -0.5), (1, 1, 1, float("nan"))])
def test_bad_weights_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="weights"):
        IlDrScore(weights=weights)  # type: ignore[arg-type]
