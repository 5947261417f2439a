"""Groups across the borders of blocks: a second round with other cuts, from the outside."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.engine.mask import stage
from sparkanon.engine.mask.masking import Masked, Masking
from sparkanon.engine.pipeline import Release
from sparkanon.engine.sql.names import START
from sparkanon.groupings import Refined

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

COLUMNS = {
    **dict.fromkeys(["x", "y", "town", "born"], "quasi_identifier"),
    "illness": "sensitive",
    **dict.fromkeys(["a.dotted name", "list", "map", "money", "bytes", "seen"], "keep"),
}
KEPT = ["`a.dotted name`", "list", "to_json(map)", "money", "hex(bytes)", "seen"]


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(11)
    n = 1500
    frame = pd.DataFrame({"id": np.arange(n), "x": rng.normal(size=n), "y": rng.normal(size=n)})
    frame.loc[::50, "y"] = np.nan
    frame["illness"] = rng.integers(0, 4, n).astype(str)
    made = spark.createDataFrame(frame).selectExpr(
        "x",
        "y",
        "elt(1 + id % 3, 'a', 'b', 'c') as town",
        "date_add(date'1970-01-01', int(x * 900)) as born",
        "illness",
        "id as `a.dotted name`",
        "array(id, null) as list",
        "map(town, id) as map",
        "cast(id / 7 as decimal(20, 6)) as money",
        "cast(string(id) as binary) as bytes",
        "timestamp_micros(id * 1234567) as seen",
    )
    return made.cache()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 200 records, and a second round without high effort, which takes long."""
    monkeypatch.setattr(Refined, "block_rows", 200)
    monkeypatch.setattr(Refined, "crosses", True)


def release(people: DataFrame, folder: Path, **changes: Any) -> Release:
    policy = {
        "columns": COLUMNS,
        "k": 4,
        "method": {"space": "gower"},
        "seed": {"file": seed_file(folder)},
    }
    return sparkanon.anonymize(people, policy | changes, spark=people.sparkSession)


def loss(made: Release) -> float:
    (found,) = (m.value for m in made.measures if (m.measure, m.column) == ("il", None))
    assert found is not None
    return found


def rows_of(data: DataFrame | None, *columns: str) -> Counter[tuple[Any, ...]]:
    assert data is not None
    return Counter(tuple(map(str, row)) for row in data.selectExpr(*columns).collect())


def test_less_is_lost_and_nothing_else(
    people: DataFrame, tmp_path: Path, small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = release(people, tmp_path)
    assert two.manifest["min_class_size"] >= 4
    assert two.manifest["rows_out"] == 1500
    assert two.data is not None
    assert two.data.columns == list(COLUMNS)
    assert rows_of(two.data, *KEPT) == rows_of(people, *KEPT)
    monkeypatch.setattr(Refined, "crosses", False)
    one = release(people, tmp_path)
    assert one.manifest["blocks"] == two.manifest["blocks"] > 4
    assert loss(two) < 0.99 * loss(one)
    assert one.manifest["input"]["fingerprint"] == two.manifest["input"]["fingerprint"]


@pytest.mark.parametrize("kind", ["centroid", "permute"])
def test_the_same_release_for_any_layout(
    people: DataFrame, tmp_path: Path, small_blocks: None, kind: str, stager: str
) -> None:
    spark = people.sparkSession
    method = {"space": "gower", "release": kind}
    first = rows_of(release(people.repartition(1), tmp_path, method=method).data, "*")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        again = rows_of(release(people.repartition(7), tmp_path, method=method).data, "*")
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")
    assert again == first


def test_constraints_hold_after_the_second_round(
    people: DataFrame, tmp_path: Path, small_blocks: None
) -> None:
    made = release(people, tmp_path, constraints={"l_diversity": 3})
    assert {m.value for m in made.measures if m.measure == "l_distinct"} == {3.0}


class Failing(Masking):
    """Cannot mask what was handed over from other blocks."""

    def mask(self, table: pa.Table, block: int) -> Masked | None:
        return None if START in table.column_names else super().mask(table, block)


def test_one_round_where_the_second_cannot_keep_the_constraints(
    people: DataFrame,
    tmp_path: Path,
    small_blocks: None,
    monkeypatch: pytest.MonkeyPatch,
    stager: str,
) -> None:
    monkeypatch.setattr(stage, "Masking", Failing)
    two = release(people, tmp_path, constraints={"l_diversity": 2})
    monkeypatch.setattr(Refined, "crosses", False)
    one = release(people, tmp_path, constraints={"l_diversity": 2})
    assert two.manifest["blocks"] == one.manifest["blocks"] > 4
    assert rows_of(two.data, *KEPT) == rows_of(people, *KEPT)
    assert rows_of(two.data, "*") == rows_of(one.data, "*")


def test_only_high_effort_and_several_blocks_take_two_rounds(
    people: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Refined(effort="high").crosses
    assert not Refined().crosses
    assert not Refined(effort="high", passes=0).crosses
    monkeypatch.setattr(Refined, "crosses", True)
    monkeypatch.setattr(Masking, "handed_over", None)
    assert release(people, tmp_path).manifest["blocks"] == 1


@pytest.mark.slow
def test_high_effort_gains_from_its_second_round(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Refined, "block_rows", 5000)
    values = np.random.default_rng(3).normal(size=(20_000, 5))
    table = spark.createDataFrame(pd.DataFrame(values, columns=list("abcde")))
    columns = dict.fromkeys("abcde", "quasi_identifier")
    method = {"grouping": {"name": "refined", "effort": "high"}}
    two = release(table, tmp_path, columns=columns, method=method)
    monkeypatch.setattr(Refined, "crosses", False)
    one = release(table, tmp_path, columns=columns, method=method)
    assert loss(two) < 0.985 * loss(one)
