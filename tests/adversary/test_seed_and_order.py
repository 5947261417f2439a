"""The attacker has the release, the code and the quasi-identifiers, and looks for the seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file, seed_text

import sparkanon
from sparkanon.errors import PolicyError
from sparkanon.policy import make_policy, read_seed

ROWS = 600
QUASI = ("age", "income", "height", "zip")


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({name: rng.normal(size=ROWS).round(6) for name in QUASI})
    frame["secret"] = np.arange(ROWS)  # the tests know by it who is who, and nobody else does
    return spark.createDataFrame(frame).repartition(3).cache()


def policy(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "columns": {"secret": "sensitive", **dict.fromkeys(QUASI, "quasi_identifier")},
        "output": {"format": "parquet", "path": str(folder / "release")},
        "k": 5,
        "method": {"grouping": "mdav", "release": "permute"},
        "seed": {"file": seed_file(folder)},
        "runs": str(folder / "runs"),
    } | changes


def test_a_seed_that_can_be_guessed_is_refused(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHORT", "731")
    with pytest.raises(PolicyError, match="128 bits") as caught:
        sparkanon.anonymize(table, policy(tmp_path, seed={"env": "SHORT"}))
    assert "731" not in str(caught.value)
    assert not (tmp_path / "release").exists()


def test_nothing_about_the_seed_goes_out(table: DataFrame, tmp_path: Path) -> None:
    given = policy(tmp_path)
    made = sparkanon.anonymize(table, given)
    seed = read_seed(make_policy(given).seed)
    derived = {
        seed_text(),
        made.manifest["seed_commitment"],
        made.manifest["input"]["fingerprint"],
        seed.derive("masking").hex(),
        seed.derive("masking", make_policy(given).meaning()).hex(),
    }
    for path in (tmp_path / "release").iterdir():
        content = path.read_bytes()
        assert not [one for one in derived if one.encode() in content], path.name
        if path.suffix == ".parquet":
            footer = pq.read_metadata(path).metadata or {}
            assert not [one for one in derived if one.encode() in b"".join(footer.values())]
    reported = json.loads((tmp_path / "release" / "_sparkanon.json").read_text())
    assert "seed" not in json.dumps(reported)
    assert made.manifest["seed_commitment"], "the private manifest may keep it"


def positions(folder: Path) -> pd.Series:
    """Who stands where in the published file; the file's rows are in an order of their own."""
    (file,) = (folder / "release").glob("part-*.parquet")
    return pq.read_table(file).to_pandas()["secret"]


def test_rows_of_two_releases_cannot_be_linked_by_their_place(
    table: DataFrame, tmp_path: Path
) -> None:
    """One table, one seed, other policies: no order of rows is drawn twice."""
    orders, redraw = [], {"name": "permute", "redraw": True}
    for name, changes in (
        ("five", {}),
        ("six", {"k": 6}),
        ("redraw", {"method": {"grouping": "mdav", "release": redraw}}),
        ("hybrid", {"method": {"grouping": "mdav", "release": "hybrid"}}),
    ):
        (tmp_path / name).mkdir()
        sparkanon.anonymize(table, policy(tmp_path / name, **changes))
        orders.append(positions(tmp_path / name))
    for i, one in enumerate(orders):
        for other in orders[:i]:
            # of 600 rows one stands at the same place by chance, ten would be a wonder
            assert (one.to_numpy() == other.to_numpy()).sum() < 10
    (tmp_path / "again").mkdir()
    sparkanon.anonymize(table.repartition(2), policy(tmp_path / "again"))
    assert (positions(tmp_path / "again").to_numpy() == orders[0].to_numpy()).all()


def test_the_order_of_rows_is_not_that_of_the_key_nor_of_the_input(
    table: DataFrame, tmp_path: Path
) -> None:
    sparkanon.anonymize(table, policy(tmp_path))
    order = positions(tmp_path).to_numpy()
    steps = np.abs(np.diff(order))
    assert steps.mean() > ROWS / 4  # a random order steps by a third of all rows
    ranks = np.argsort(np.argsort(order))
    assert abs(np.corrcoef(ranks, np.arange(ROWS))[0, 1]) < 0.15
