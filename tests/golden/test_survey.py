"""Groupings lose what SURVEY tables 5-7 publish for them, or less."""

from __future__ import annotations

import pytest
from reference_sets import information_loss, z_scored

from sparkanon.experiments.survey_figures import DIFFERENT, KS, PUBLISHED
from sparkanon.groupings import GROUPINGS
from sparkanon.groupings.tfrp import Tfrp
from sparkanon.groupings.tfrp2 import Tfrp2
from sparkanon.groupings.vmdav import Vmdav

NEAR = 1.05
CELLS = [
    (method, name, k, loss)
    for method, table in PUBLISHED.items()
    for name, row in table.items()
    for k, loss in zip(KS, row, strict=True)
    if loss is not None
]

# (grouping, data set, k) above it; the reasons stand in DIFFERENT
KNOWN = {("tfrp", "eia", 5), ("tfrp", "eia", 10), ("mdav", "eia", 10)}


@pytest.mark.parametrize(("method", "name", "k", "loss"), CELLS)
def test_within_five_per_cent_or_below(method: str, name: str, k: int, loss: float) -> None:
    ours = information_loss(z_scored(name), GROUPINGS.build(method), k)
    if (method, name, k) in KNOWN:
        assert (method, name) in DIFFERENT
        assert NEAR * loss < ours < 1.1 * loss, "no longer a known difference"
    else:
        assert ours <= NEAR * loss


@pytest.mark.parametrize("name", PUBLISHED["dba"])
@pytest.mark.parametrize("method", ["dba", "dba2"])
def test_dba_to_the_last_digit(method: str, name: str) -> None:
    # the survey's figures of DBA-2 on EIA are cut, not rounded, to three digits: 0.5598 is 0.559
    ours = [information_loss(z_scored(name), GROUPINGS.build(method), k) for k in KS]
    within = 1e-3 if (method, name) == ("dba2", "eia") else 6e-4
    assert ours == pytest.approx(PUBLISHED[method][name], abs=within)


@pytest.mark.parametrize("name", PUBLISHED["tfrp"])
def test_tfrp_to_the_last_digit(name: str) -> None:
    # its figures of EIA are those of ten columns: the survey's eleven without UTILITYID
    values = z_scored(name)[1:] if name == "eia" else z_scored(name)
    ours = [information_loss(values, Tfrp(), k) for k in KS]
    assert ours == pytest.approx(PUBLISHED["tfrp"][name], abs=6e-4)


def test_vmdav_for_scattered_and_for_clustered_data() -> None:
    scattered = [information_loss(z_scored("tarragona"), Vmdav(gamma=0.2), k) for k in KS]
    assert scattered == pytest.approx(PUBLISHED["vmdav"]["tarragona"], abs=0.01)
    clustered = [information_loss(z_scored("eia"), Vmdav(gamma=1.1), k) for k in (5, 10)]
    assert clustered == pytest.approx(PUBLISHED["vmdav"]["eia"][2:], abs=0.02)


@pytest.mark.parametrize("name", PUBLISHED["tfrp"])
def test_the_second_phase_of_tfrp_pays(name: str) -> None:
    for k in KS:
        first = information_loss(z_scored(name), Tfrp(), k)
        assert information_loss(z_scored(name), Tfrp2(), k) < first


@pytest.mark.parametrize("name", PUBLISHED["mst"])
def test_the_spanning_tree_gives_the_figures_of_the_survey(name: str) -> None:
    values, grouping = z_scored(name), GROUPINGS.get("mst")()
    found = [information_loss(values, grouping, k) for k in KS]
    assert found == pytest.approx(PUBLISHED["mst"][name], rel=0.006)


@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
@pytest.mark.parametrize("k", KS)
def test_paths_and_the_hybrid_lose_less_than_their_fixed_size_start(name: str, k: int) -> None:
    values = z_scored(name)
    for start in ("mdav", "md", "cbfs"):
        fixed = information_loss(values, GROUPINGS.get(start)(), k)
        assert information_loss(values, GROUPINGS.get(f"{start}_mhm")(), k) < fixed
    fixed = information_loss(values, GROUPINGS.get("mdav")(), k)
    assert information_loss(values, GROUPINGS.get("mdav_ga")(), k) < fixed


def test_plain_md_gives_the_survey_row_of_md_mhm_on_tarragona() -> None:
    values, grouping = z_scored("tarragona"), GROUPINGS.get("md")()
    found = [information_loss(values, grouping, k) for k in (3, 5, 10)]
    assert found == pytest.approx([16.983, 22.527, 33.183], abs=6e-4)
