"""The page that is made of the survey's figures and ours."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sparkanon.errors import InputError
from sparkanon.experiments.plots import draw
from sparkanon.experiments.survey import DATA_SETS, page, panels, run


def table() -> pd.DataFrame:
    rows = [
        (name, method, k, published, ours, 5.0, 1.5)
        for name in DATA_SETS
        for k in (3, 4, 5, 10)
        for method, published, ours in (("mdav", 10.0, 9.5), ("tfrp", 10.0, 11.0), ("md", None, 9))
    ]
    names = ["data", "method", "k", "published", "ours", "smallest_class", "seconds"]
    made = pd.DataFrame(rows, columns=names)
    made["difference"] = 100.0 * (made["ours"] / made["published"].astype(float) - 1.0)
    return made


def test_published_ours_and_difference() -> None:
    text = page(table())
    assert "| mdav | 9.500 (10, -5.0) | 9.500 (10, -5.0) |" in text
    assert "| md | 9.000 | 9.000 | 9.000 | 9.000 | 6.0 |" in text
    assert "| *best of all published* | 15.61 | 19.396 | 22.11 | 33.183 | |" in text
    assert "| *best of all published* | 0.408 | 0.559 | 0.818 | 2.081 | |" in text


def test_what_is_far_away_is_explained() -> None:
    text = page(table())
    ks = "k = 3 +10.0 %, k = 4 +10.0 %, k = 5 +10.0 %, k = 10 +10.0 %"
    assert f"- tfrp, {ks}: the survey's row is that of ten columns" in text
    assert f"- tfrp, {ks}: no reason is known." in text, "Tarragona has none"
    assert "- mdav" not in text
    lower = table().replace({"method": {"tfrp": "vmdav"}})
    assert "vmdav, k = 3 +10.0 %" in page(lower)
    assert "gamma is the best of five" not in page(lower), "no reason to be worse"
    lower["difference"] *= -1
    assert "- vmdav, k = 3 -10.0 %, k = 4" in page(lower)
    assert "gamma is the best of five" in page(lower)


def test_picture(tmp_path: Path) -> None:
    draw(panels(table()), tmp_path / "survey.png", columns=3)
    assert (tmp_path / "survey.png").read_bytes().startswith(b"\x89PNG")


def test_all_missing_files_are_reported_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "tarragona.csv").write_text("only this one\n")
    with pytest.raises(InputError) as caught:
        run(tmp_path, tmp_path, None)  # type: ignore[arg-type]
    assert [problem.message for problem in caught.value.problems] == [
        f"there is no {name}.csv in {tmp_path}" for name in ("census", "eia")
    ]
