"""Methods on paths, trees and genes against the information loss of SURVEY tables 5-7."""

from __future__ import annotations

import pytest
from test_reference_sets import information_loss, z_scored

from sparkanon.groupings import GROUPINGS

K = (3, 4, 5, 10)
PUBLISHED: dict[tuple[str, str], tuple[float | None, ...]] = {
    ("mst", "tarragona"): (16.630, 19.66, 24.5, 38.58),
    ("mst", "census"): (6.11, 8.24, 10.3, 17.17),
    ("mdav_mhm", "tarragona"): (16.932, None, 22.462, 33.192),
    ("mdav_mhm", "census"): (5.652, None, 9.087, 14.224),
    ("mdav_mhm", "eia"): (0.408, None, 1.256, 3.773),
    ("md_mhm", "tarragona"): (16.983, None, 22.527, 33.183),
    ("md_mhm", "census"): (5.697, None, 8.986, 14.397),
    ("md_mhm", "eia"): (0.442, None, 1.263, 3.637),
    ("cbfs_mhm", "tarragona"): (16.971, None, 22.823, 33.219),
    ("cbfs_mhm", "census"): (5.673, None, 8.894, 13.893),
    ("mu_approx", "tarragona"): (17.10, 20.51, 26.04, 38.80),
    ("mu_approx", "census"): (6.25, 8.47, 10.78, 17.01),
    ("mu_approx", "eia"): (0.43, 0.59, 0.83, 2.26),
    ("npn_mhm", "tarragona"): (17.395, None, 27.0213, 40.183),
    ("npn_mhm", "census"): (6.349, None, 11.344, 18.734),
    ("npn_mhm", "eia"): (0.553, None, 0.960, 2.319),
}
CELLS = [
    pytest.param(key, name, k, figure, id=f"{key}-{name}-{k}")
    for (key, name), row in PUBLISHED.items()
    for k, figure in zip(K, row, strict=True)
    if figure is not None
]


@pytest.mark.parametrize(("key", "name", "k", "figure"), CELLS)
def test_not_more_than_a_twentieth_above_the_survey(
    key: str, name: str, k: int, figure: float
) -> None:
    assert information_loss(z_scored(name), GROUPINGS.get(key)(), k) < 1.05 * figure


@pytest.mark.parametrize(
    ("name", "row"), [(n, r) for (k, n), r in PUBLISHED.items() if k == "mst"]
)
def test_the_spanning_tree_gives_the_figures_of_the_survey(
    name: str, row: tuple[float, ...]
) -> None:
    values, grouping = z_scored(name), GROUPINGS.get("mst")()
    found = [information_loss(values, grouping, k) for k in K]
    assert found == pytest.approx(row, rel=0.006)


@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
@pytest.mark.parametrize("k", K)
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
