"""The attacker runs the job again on another cluster: the release must not depend on it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from seeds import seed_file

import sparkanon
from sparkanon.errors import InputError
from sparkanon.numeric.exact import exact_sums
from sparkanon.numeric.records import Scale
from sparkanon.numeric.statistics import ColumnStatistics

ROWS = 400
EDGE = 1.234565
FAR, CORNER = 12.0, 4.0  # in sd: of two records on the axes, and of one between them


def with_rivals(values: np.ndarray, at: tuple[float, float, float]) -> np.ndarray:
    """The first three records at so many sd from the mean, as sparkanon rounds the sd."""
    values = values.copy()
    for _ in range(100):
        sd = float(f"{values.std():.5e}") if at[1] == FAR else values.std()
        values[:3] = values.mean() + np.array(at) * sd
    return values


def on_the_edge(values: np.ndarray) -> np.ndarray:
    """Stretched so that six digits of the sd change with its last bits."""
    for _ in range(200):
        values = values * (EDGE / np.sqrt(float(exact_sums(values).variance)))
    low, high = 1.0 - 1e-13, 1.0 + 1e-13
    for _ in range(60):  # as near as doubles come
        middle = (low + high) / 2
        under = exact_sums(values * middle).variance < EDGE**2
        low, high = (middle, high) if under else (low, middle)
    return values * high


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    """Which of two records is the farthest, and so who gets the third, hangs on that digit."""
    rng = np.random.default_rng(17)
    a = with_rivals(rng.normal(size=ROWS) * 3 + 0.1, (FAR, 0.0, CORNER))
    b = with_rivals(rng.normal(size=ROWS), (0.0, FAR, CORNER))
    frame = pd.DataFrame({"a": on_the_edge(a), "b": b, "label": rng.integers(0, 3, ROWS)})
    return spark.createDataFrame(frame).cache()


@pytest.fixture(scope="module")
def layouts(table: DataFrame) -> list[DataFrame]:
    """For each of the two roundings of a plain sum a layout that gives it."""
    found: dict[str, DataFrame] = {}
    for seed in range(20):
        for parts in (1, 2, 3, 7):
            layout = table.repartition(parts).sortWithinPartitions(F.rand(seed))
            row = layout.select(F.stddev_pop("a")).first()
            assert row is not None
            sd = row[0]
            assert not ColumnStatistics("a", Scale.NUMERIC, ROWS, 0, 0.1, sd, -9.0, 9.0).is_steady
            found.setdefault(f"{sd:.5e}", layout)
            if len(found) == 2:
                return list(found.values())
    raise AssertionError("the column lies on no edge, so no test here could fail")


@pytest.mark.parametrize("space", ["euclidean", {"name": "lda", "target": "label", "alpha": 8}])
def test_partitions_decide_nothing(layouts: list[DataFrame], tmp_path: Path, space: Any) -> None:
    policy = {
        "columns": {"a": "quasi_identifier", "b": "quasi_identifier", "label": "sensitive"},
        "k": 4,
        "method": {"space": space, "grouping": "mdav"},
        "seed": {"file": seed_file(tmp_path)},
    }
    found = set()
    for layout in layouts:
        made = sparkanon.anonymize(layout, policy)
        assert made.data is not None
        found.add(frozenset(Counter(tuple(row) for row in made.data.collect()).items()))
    assert len(found) == 1


def test_a_band_that_ends_at_all_records_holds_all_of_them(spark: SparkSession) -> None:
    """5 % of the sd of 20 is how far each record is moved; some layouts sum to 19.999999999999996.

    There interval_sd was 0 and the release was published; on others it was 1.
    """
    x = spark.range(1000).selectExpr("if(id % 5 = 0, 0, 50) as x")
    layouts: dict[bool, DataFrame] = {}
    for seed in range(40):
        layout = x.repartition(1 + seed % 7).sortWithinPartitions(F.rand(seed)).cache()
        row = layout.select(F.stddev_pop("x")).first()
        assert row is not None
        layouts.setdefault(row[0] < 20.0, layout)
    assert len(layouts) == 2, "the sd is the same for all, so no test here could fail"
    limits = {"x": {"low": 1, "high": 49}}
    policy = {
        "columns": {"x": "quasi_identifier"},
        "method": {"release": {"name": "top_bottom", "limits": limits}},
        "gates": {"max_interval_sd": 1.0},
    }
    for layout in layouts.values():
        made = sparkanon.anonymize(layout, policy, dry_run=True)
        (found,) = (
            m.value for m in made.measures if m.measure == "interval_sd" and m.column is None
        )
        assert found == 1.0


@pytest.mark.parametrize("scale", [1e-145, 1e-161, 1e-163])
def test_squares_below_all_doubles_decide_nothing(
    spark: SparkSession, tmp_path: Path, scale: float
) -> None:
    """At 1e-161 two layouts of one table gave two releases, as the squares lost their digits."""
    rng = np.random.default_rng(17)
    tiny = pd.DataFrame({"a": (rng.normal(size=300) * 3 + 0.1) * scale, "b": rng.normal(size=300)})
    policy = {
        "columns": {"a": "quasi_identifier", "b": "quasi_identifier"},
        "k": 4,
        "seed": {"file": seed_file(tmp_path)},
    }
    for parts in (1, 3):
        with pytest.raises(InputError, match=r"differ by so little.*; clean or rescale"):
            sparkanon.anonymize(spark.createDataFrame(tiny).repartition(parts), policy)


def test_small_numbers_that_doubles_hold_are_taken() -> None:
    reported = ColumnStatistics("a", Scale.NUMERIC, 300, 0, 1e-136, 1e-136, 0.0, 4e-136)
    assert reported.problem is None
    assert ColumnStatistics("a", Scale.NUMERIC, 300, 0, 7.0, 0.0, 7.0, 7.0).problem is None
