"""The data of the LDA figures, and the page that is made of the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from reference_data import data_file

from sparkanon.errors import InputError
from sparkanon.experiments import lda
from sparkanon.experiments.lda import DATA_SETS, TARGET, DataSet, page, panels, run
from sparkanon.experiments.plots import draw

SHAPES = {
    "Adult": (4523, 6),  # a tenth of 45,222
    "Breast Cancer Wisconsin": (683, 9),
    "Heart": (297, 13),
    "Synthetic": (1000, 2),
}


@pytest.mark.parametrize("one", DATA_SETS, ids=lambda one: one.name)
def test_tables_are_those_of_table_1(one: DataSet) -> None:
    table = one.read(Path() if one.file is None else data_file(one.file).parent)
    rows, columns = SHAPES[one.name]
    assert table.shape == (rows, columns + 1)
    assert set(table[TARGET]) == {0, 1}
    assert not table.isna().any().any()
    if one.name == "Adult":
        assert table[TARGET].mean() == pytest.approx(11_208 / 45_222, abs=1e-3)


def test_all_missing_files_are_reported_before_anything_runs(tmp_path: Path) -> None:
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
        rows.append((one.name, 1, "original", "", 0.9, 0.8, None))
        rows += [(one.name, k, m, a, 0.85, 0.7, None) for k in (5, 50)
                 for m, a in (("mdav", ""), ("lda", "4 16"))]  # fmt: skip
    names = ["data", "k", "method", "alpha", "accuracy", "f1", "published_accuracy"]
    table = pd.DataFrame(rows, columns=names)
    at = (table["data"] == "Adult") & (table["k"] == 50) & (table["method"] == "mdav")
    table.loc[at, "published_accuracy"] = 0.818
    text = page(table)
    assert "| 50 | mdav |  | 0.850 | 0.818 (+0.032) | 0.700 |" in text
    assert "| 5 | lda | 4 16 | 0.850 |  | 0.700 |" in text
    assert text.count("Original: accuracy 0.900, F-measure 0.800.") == 4
    draw(panels(table), tmp_path / "lda.png")
    assert (tmp_path / "lda.png").read_bytes().startswith(b"\x89PNG")


def test_rows_are_means_over_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    def reported(one: DataSet, table: object, number: int, spark: object) -> Iterator[object]:
        yield 1, "original", (0.9, 0.8), None
        yield 5, "mdav", (0.5 + 0.2 * number, 0.6), None
        yield 5, "lda", (0.8, 0.4 + 0.2 * number), 4.0 * (1 + number)
        yield 5, "alpha 2", (0.9 - 0.3 * number, 0.5), None

    monkeypatch.setattr(lda, "split_once", reported)
    one = replace(DATA_SETS[0], splits=2)
    rows = [row.values() for row in lda.measured(one, pd.DataFrame(), None)]  # type: ignore[arg-type]
    # alpha 2 is 0.9 and 0.6: better than mdav's 0.5 and 0.7 on the mean, not by the best of each
    assert [list(row)[1:6] for row in rows] == [
        [1, "original", "", 0.9, 0.8],
        [5, "mdav", "", 0.6, 0.6],
        [5, "lda", "4 8", 0.8, 0.5],
        [5, "lda, best alpha", "", 0.75, 0.6],
    ]
