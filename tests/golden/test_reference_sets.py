"""Information loss on the three reference sets, 100 * SSE / SST on z-scored columns."""

from __future__ import annotations

import pytest
from reference import information_loss, z_scored

from sparkanon.experiments.survey_figures import EXACT_MDAV, KS
from sparkanon.groupings import Mdav, Refined

EXACT = {
    (name, k): loss
    for name, row in EXACT_MDAV.items()
    for k, loss in zip(KS, row, strict=True)
    if loss is not None
}


@pytest.mark.parametrize(("name", "k"), EXACT)
def test_mdav_to_four_decimals(name: str, k: int) -> None:
    assert information_loss(z_scored(name), Mdav(), k) == pytest.approx(EXACT[name, k], abs=5e-5)


@pytest.mark.parametrize(("name", "k"), EXACT)
def test_refined_loses_less_than_mdav(name: str, k: int) -> None:
    assert information_loss(z_scored(name), Refined(), k) < 0.96 * EXACT[name, k]
