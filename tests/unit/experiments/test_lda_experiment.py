"""The data of the LDA figures, and the page that is made of the results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sparkanon.errors import InputError
from sparkanon.experiments.lda import DATA_SETS, TARGET, page, panels, run
from sparkanon.experiments.plots import draw

SHAPES = {
    "Adult": (4523, 6),  # a tenth of 45,222
    "Breast Cancer Wisconsin": (683, 9),
    "Heart": (297, 13),
    "Synthetic": (1000, 2),
}


@pytest.mark.parametrize("one", DATA_SETS, ids=lambda one: one.name)
def test_tables_are_those_of_table_1(data_folder: Path, one: object) -> None:
    table = one.read(data_folder)  # type: ignore[attr-defined]
    rows, columns = SHAPES[one.name]  # type: ignore[attr-defined]
    assert table.shape == (rows, columns + 1)
    assert set(table[TARGET]) == {0, 1}
    assert not table.isna().any().any()
    if one.name == "Adult":  # type: ignore[attr-defined]
        assert table[TARGET].mean() == pytest.approx(11_208 / 45_222, abs=1e-3)


def test_all_missing_files_are_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text("only this one\n")
    with pytest.raises(InputError) as caught:
        run(tmp_path, tmp_path / "out", None)  # type: ignore[arg-type]
    assert [problem.message for problem in caught.value.problems] == [
        f"there is no {name}.csv in {tmp_path}"
        for name in ("breast_cancer_wisconsin", "heart_cleveland")
    ]
    assert not (tmp_path / "out").exists()


def test_the_page_shows_published_beside_ours(tmp_path: Path) -> None:
    rows = []
    for one in DATA_SETS:
        rows.append((one.name, 1, "original", None, 0.9, 0.8, None))
        rows += [(one.name, k, m, a, 0.85, 0.7, None) for k in (5, 50)
                 for m, a in (("mdav", None), ("lda", 4.0))]  # fmt: skip
    names = ["data", "k", "method", "alpha", "accuracy", "f1", "published_accuracy"]
    table = pd.DataFrame(rows, columns=names)
    at = (table["data"] == "Adult") & (table["k"] == 50) & (table["method"] == "mdav")
    table.loc[at, "published_accuracy"] = 0.818
    text = page(table)
    assert "| 50 | mdav |  | 0.850 | 0.818 (+0.032) | 0.700 |" in text
    assert "| 5 | lda | 4 | 0.850 |  | 0.700 |" in text
    assert text.count("Original: accuracy 0.900, F-measure 0.800.") == 4
    draw(panels(table), tmp_path / "lda.png")
    assert (tmp_path / "lda.png").read_bytes().startswith(b"\x89PNG")
