"""The sample table: the same people everywhere, and as correlated and lumpy as promised."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sparkanon.engine.table.sample_data import (
    CHRONIC,
    COLUMNS,
    EDUCATION,
    MAX_ROWS,
    MUNICIPALITIES,
    OTHER_DIAGNOSES,
    people,
)
from sparkanon.errors import InputError

ROWS = 20_000
# Correlations of 20,000 pairs are within 0.02 of the truth with near certainty.
NUMERIC = (
    "age",
    "years_of_schooling",
    "hours_per_week",
    "income",
    "rent",
    "household_size",
    "height_cm",
    "weight_kg",
    "blood_pressure",
)


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> pd.DataFrame:
    made = people(spark, ROWS, seed=1)
    return made.withColumn("wealth", F.col("wealth").cast("double")).toPandas()


def rows_of(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in df.drop("wealth", "commute_km").collect())


def test_schema_is_what_columns_says(spark: SparkSession) -> None:
    assert people(spark, 1).dtypes == [(column.name, column.type) for column in COLUMNS]
    assert len({column.name for column in COLUMNS}) == len(COLUMNS)


@pytest.mark.slow
def test_same_people_for_any_number_of_partitions(spark: SparkSession) -> None:
    expected = people(spark, 500, seed=3, partitions=1).collect()
    for partitions in (2, 7, None):
        assert people(spark, 500, seed=3, partitions=partitions).collect() == expected
    assert people(spark, 500, partitions=7).select(F.spark_partition_id()).distinct().count() == 7


def test_first_rows_do_not_depend_on_the_number_of_rows(spark: SparkSession) -> None:
    few = set(rows_of(people(spark, 100, seed=5, partitions=2)))
    assert len(few) == 100
    assert few < set(rows_of(people(spark, 1000, seed=5, partitions=3)))


def test_a_value_never_changes_between_versions(spark: SparkSession) -> None:
    row = people(spark, 1, seed=1).select("person_id", "name", "age", "income").collect()[0]
    assert tuple(row) == (1564400939049, "Hiveda Letovberin", 67, 105580.41)


def test_another_seed_gives_other_people(spark: SparkSession) -> None:
    one = {row["person_id"] for row in people(spark, 1000, seed=1).collect()}
    other = {row["person_id"] for row in people(spark, 1000, seed=2).collect()}
    assert len(one & other) < 5


def test_person_id_is_unique_and_says_nothing_about_order(table: pd.DataFrame) -> None:
    assert table["person_id"].is_unique
    assert table["person_id"].between(10**12, 10**12 + MAX_ROWS - 1).all()
    order = pd.Series(range(ROWS))
    assert abs(table["person_id"].corr(order)) < 0.03
    # Low digits of a multiplied counter would still follow the row number.
    assert abs((table["person_id"] % 1000).corr(order % 1000)) < 0.03


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ("years_of_schooling", "income", 0.36, 0.46),
        ("hours_per_week", "income", 0.56, 0.66),
        ("age", "years_of_schooling", -0.19, -0.09),
        ("income", "rent", 0.39, 0.49),
        ("age", "blood_pressure", 0.54, 0.64),
        ("weight_kg", "blood_pressure", 0.26, 0.36),
        ("height_cm", "weight_kg", 0.50, 0.60),
        ("household_size", "commute_km", -0.03, 0.03),
        ("person_id", "income", -0.03, 0.03),
    ],
)
def test_correlations(
    table: pd.DataFrame, first: str, second: str, low: float, high: float
) -> None:
    assert low < table[first].corr(table[second]) < high


@pytest.mark.parametrize("other", ["income", "age"])
def test_wealth_follows_income_and_age_by_rank(table: pd.DataFrame, other: str) -> None:
    assert table["wealth"].rank().corr(table[other].rank()) > 0.25


def test_income_rises_until_midlife_and_falls_with_retirement(table: pd.DataFrame) -> None:
    by_age = table.groupby(pd.cut(table["age"], [17, 25, 60, 95]), observed=True)[
        "income"
    ].median()
    young, middle, old = by_age
    assert middle > 2 * young
    assert middle > 1.5 * old


def test_height_depends_on_sex(table: pd.DataFrame) -> None:
    mean = table.groupby("sex")["height_cm"].mean()
    assert mean["male"] - mean["female"] == pytest.approx(13.0, abs=0.5)
    assert table["height_cm"].where(table["sex"] == "male").std() == pytest.approx(6.75, abs=0.2)


@pytest.mark.parametrize(
    ("happens", "share"),
    [
        (lambda t: t["hours_per_week"] == 40, 0.31),
        (lambda t: t["hours_per_week"] == 0, 0.39),
        (lambda t: t["income"] == 0, 0.09),
        (lambda t: t["wealth"].isna(), 0.04),
        (lambda t: t["commute_km"].isna(), 0.03),
        (lambda t: t["wealth"] < 0, 0.04),
        (lambda t: t["sex"] == "other", 0.006),
        (lambda t: t["municipality"] == MUNICIPALITIES[0], 0.1307),
        (lambda t: t["age"] < 60, 0.72),
    ],
)
def test_point_masses(
    table: pd.DataFrame, happens: Callable[[pd.DataFrame], pd.Series], share: float
) -> None:
    assert happens(table).mean() == pytest.approx(share, abs=0.012)


def test_birthday_agrees_with_age(table: pd.DataFrame) -> None:
    born = pd.to_datetime(table["birthday"])
    assert (table["age"] == 2024 - born.dt.year).all()
    assert table["age"].between(18, 95).all()
    assert born.dt.dayofyear.nunique() == 366


def test_region_is_decided_by_municipality(table: pd.DataFrame) -> None:
    assert table.groupby("municipality")["region"].nunique().max() == 1
    assert table["region"].nunique() == 9
    assert 195 <= table["municipality"].nunique() <= 200


def test_schooling_follows_education(table: pd.DataFrame) -> None:
    mean = table.groupby("education")["years_of_schooling"].mean()
    assert set(mean.index) == set(EDUCATION)
    assert list(mean[list(EDUCATION)]) == sorted(mean)
    assert (table["years_of_schooling"] <= table["age"] - 5).all()
    assert not ((table["education"] == "doctorate") & (table["age"] < 27)).any()


def test_work_agrees_with_hours(table: pd.DataFrame) -> None:
    assert ((table["hours_per_week"] > 0) == table["employed"]).all()
    assert (table["income"][table["employed"]] > 0).all()


def test_income_is_lognormal_in_the_tail_and_wealth_heavier(table: pd.DataFrame) -> None:
    assert 1.0 < table["income"].skew() < 5.0
    assert table["wealth"].skew() > 5.0
    cents = table["income"] * 100
    assert (cents - cents.round()).abs().max() < 1e-6


def test_diagnosis_depends_on_age_and_weight(table: pd.DataFrame) -> None:
    chronic = table["diagnosis"].isin(CHRONIC)
    bmi = table["weight_kg"] / (table["height_cm"] / 100) ** 2
    assert chronic[table["age"] > 65].mean() > 3 * chronic[table["age"] < 35].mean()
    assert chronic[bmi > 30].mean() > 1.3 * chronic[bmi < 22].mean()
    assert set(table["diagnosis"]) == {"none", *CHRONIC, *OTHER_DIAGNOSES}
    assert table["diagnosis"].value_counts().iloc[-1] < 0.02 * ROWS


def test_eight_numeric_columns_without_null(table: pd.DataFrame) -> None:
    assert len(NUMERIC) >= 8
    assert not table[[*NUMERIC, "birthday", "last_visit", "survey_weight"]].isna().any().any()


def test_names_look_like_names(table: pd.DataFrame) -> None:
    assert (
        table["name"].map(lambda name: bool(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", name))).all()
    )
    assert table["name"].nunique() > 0.95 * ROWS


def test_generated_code_is_small_enough_for_the_jvm_to_optimize(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    people(spark, 10).explain("codegen")
    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", capsys.readouterr().out)]
    assert sizes
    assert max(sizes) < 8000


def test_no_rows(spark: SparkSession) -> None:
    assert people(spark, 0).count() == 0


def test_bad_parameters_are_refused_together(spark: SparkSession) -> None:
    with pytest.raises(InputError) as caught:
        people(spark, -1, seed=2**63, partitions=0)
    assert [problem.path for problem in caught.value.problems] == ["rows", "seed", "partitions"]
