"""Information loss on the three reference sets, 100 * SSE / SST on z-scored columns."""

from __future__ import annotations

from functools import cache

import pytest
from reference_sets import information_loss, z_scored

from sparkanon.experiments.survey_figures import EXACT_MDAV, KS
from sparkanon.groupings import Mdav, Refined

EXACT = {
    (name, k): loss
    for name, row in EXACT_MDAV.items()
    for k, loss in zip(KS, row, strict=True)
    if loss is not None
}

SIZES = (3, 4, 5, 10)


def cells(**rows: tuple[float, float, float, float]) -> dict[tuple[str, int], float]:
    pairs = ((name, zip(SIZES, row, strict=True)) for name, row in rows.items())
    return {(name, k): loss for name, row in pairs for k, loss in row}


# METHODS.md: the lowest loss of any method of SURVEY tables 5-7.
BEST = cells(
    tarragona=(15.61, 19.396, 22.110, 33.183),
    census=(5.34, 7.51, 8.68, 13.521),
    eia=(0.408, 0.559, 0.818, 2.081),
)

# METHODS.md: an hour's experiment that alternates optimal paths with a local search.
EXPERIMENT = cells(
    tarragona=(14.77, 17.58, 20.61, 30.66),
    census=(5.11, 6.69, 7.97, 12.35),
    eia=(0.356, 0.497, 0.783, 2.135),
)


@pytest.mark.parametrize(("name", "k"), EXACT)
def test_mdav_to_four_decimals(name: str, k: int) -> None:
    assert information_loss(z_scored(name), Mdav(), k) == pytest.approx(EXACT[name, k], abs=5e-5)


@cache
def loss_of_refined(name: str, k: int) -> float:
    return information_loss(z_scored(name), Refined(), k)


@pytest.mark.parametrize(("name", "k"), EXACT)
def test_refined_loses_less_than_mdav(name: str, k: int) -> None:
    assert loss_of_refined(name, k) < 0.96 * EXACT[name, k]


@pytest.mark.parametrize(("name", "k"), BEST)
def test_refined_loses_less_than_the_best_of_all_papers(name: str, k: int) -> None:
    assert loss_of_refined(name, k) < BEST[name, k]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), EXPERIMENT)
def test_high_effort_loses_less_than_the_experiment(name: str, k: int) -> None:
    found = information_loss(z_scored(name), Refined(effort="high"), k)
    assert found < min(0.99 * EXPERIMENT[name, k], BEST[name, k])
    if name != "eia":
        assert found < 0.965 * BEST[name, k]


@pytest.mark.parametrize("name", ["census", "eia"])
def test_refined_loses_less_than_its_start(name: str) -> None:
    values = z_scored(name)
    found = information_loss(values, Refined(start=Mdav()), 5)
    assert found < BEST[name, 5] < EXACT[name, 5]
