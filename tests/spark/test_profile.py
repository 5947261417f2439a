"""Profiles: right numbers, sensible roles, no cell; starter policies that load."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.table.profile import ColumnProfile, TableProfile, profile, starter_policy
from sparkanon.engine.table.sample_data import COLUMNS, people
from sparkanon.errors import InputError, PolicyError
from sparkanon.policy.loading import make_policy, parse

INPUT = {"format": "parquet", "path": "lake/people.parquet"}


def by_name(found: TableProfile) -> dict[str, ColumnProfile]:
    return {column.name: column for column in found.columns}


@pytest.mark.parametrize("scale", [1e-120, 1e-20, 1.0, 1e20, 1e120])
def test_skewness_of_very_small_and_very_large_numbers(spark: SparkSession, scale: float) -> None:
    rows = [(v * scale, 1e-120 * v) for v in (1.0, 1.0, 1.0, 1.0, 5.0)]
    x, tiny = profile(spark.createDataFrame(rows, "x double, tiny double")).columns
    usual = 1e-30 < scale < 1e30
    assert x.skewness == (pytest.approx(1.5) if usual else None)
    assert tiny.skewness is None


def test_numbers_by_hand(spark: SparkSession) -> None:
    rows = [
        (1.0, 1, "a"),
        (math.nan, 1, "a"),
        (math.inf, 1, None),
        (-math.inf, 1, "a"),
        (None, 5, "b"),
    ]
    found = profile(spark.createDataFrame(rows, "x double, n int, s string"))
    assert found.rows == 5
    x, n, s = found.columns
    assert (x.null_share, x.nan_count, x.infinite_count, x.distinct) == (0.2, 1, 2, 4)
    assert (x.distinct_share, x.top_share, x.skewness) == (1.0, 0.25, None)
    # Mean 1.8, deviations -0.8 (four times) and 3.2: m2 = 2.56, m3 = 6.144, 6.144 / 2.56^1.5 = 1.5
    assert (n.distinct, n.top_share, n.skewness) == (2, 0.8, 1.5)
    assert (s.null_share, s.distinct, s.top_share, s.kind) == (0.2, 2, 0.75, "nominal")


@pytest.mark.parametrize("partitions", [1, 7])
def test_estimates_of_a_larger_table(spark: SparkSession, partitions: int) -> None:
    ids = spark.range(0, 40_000, 1, partitions)
    table = ids.select(
        F.col("id").alias("v"),
        F.when(F.col("id") % 4 == 0, 7).otherwise(F.col("id")).cast("int").alias("lump"),
    )
    v, lump = profile(table).columns
    assert v.distinct_share == pytest.approx(1.0, abs=0.03)
    assert v.top_share == pytest.approx(0.0, abs=0.001)
    assert lump.top_share == pytest.approx(0.25, abs=0.001)
    assert lump.distinct == pytest.approx(30_000, rel=0.03)


ALL_TYPES = (
    "`a b` decimal(14,2), `a.b` date, `a``b` timestamp, `größe` timestamp_ntz, `flag` boolean, "
    "`list` array<int>, `map` map<string,int>, `struct` struct<x:int>, `raw` binary, "
    "`tiny` tinyint, `float` float, `Ａ列` string"
)
MARKED = (
    Decimal("918273.64"),
    date(1931, 7, 19),
    datetime(1947, 3, 2, 4, 5, 6),
    datetime(1948, 3, 2, 4, 5, 6),
    True,
    [424242],
    {"zebrafish": 434343},
    (454545,),
    b"quokka",
    113,
    2.71828,
    "axolotl",
)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_all_types_and_names(spark: SparkSession, rows: int) -> None:
    found = profile(spark.createDataFrame([MARKED] * rows, ALL_TYPES))
    assert found.rows == rows
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds == {
        "a b": "numeric",
        "a.b": "date",
        "a`b": "timestamp",
        "größe": "timestamp",
        "flag": "boolean",
        "list": None,
        "map": None,
        "struct": None,
        "raw": None,
        "tiny": "numeric",
        "float": "numeric",
        "Ａ列": "nominal",
    }
    assert all(c.constant == (rows > 0) for c in found.columns if c.kind is not None)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert set(yaml.safe_load(starter_policy(found, INPUT))["columns"]) == set(kinds)


def test_no_cell_in_the_profile_or_the_policy(spark: SparkSession) -> None:
    other = (
        Decimal("-564738.29"),
        date(1962, 11, 23),
        datetime(1953, 8, 7, 6, 5, 4),
        datetime(1954, 8, 7, 6, 5, 4),
        False,
        [616161],
        {"wombat": 626262},
        (636363,),
        b"ocelot",
        -97,
        57721.56,
        "pangolin",
    )
    found = profile(spark.createDataFrame([MARKED, other, MARKED], ALL_TYPES))
    text = json.dumps(found.to_dict(), ensure_ascii=False) + starter_policy(found, INPUT)
    cells = """918273 1931 1947 1948 424242 zebrafish 434343 454545 quokka 113 2.718 axolotl
        564738 1962 1953 1954 616161 wombat 626262 636363 ocelot 97 57721 pangolin"""
    for cell in cells.split():
        assert cell not in text


def test_equal_names_are_profiled_but_no_policy_can_name_them(spark: SparkSession) -> None:
    table = spark.range(3).select(F.col("id").alias("x"), F.lit(1).alias("x"))
    found = profile(table)
    assert [column.constant for column in found.columns] == [False, True]
    with pytest.raises(InputError, match="x: several columns"):
        starter_policy(found, INPUT)


def test_no_columns(spark: SparkSession) -> None:
    found = profile(spark.range(4).select())
    assert found == TableProfile(rows=4, columns=())
    text = starter_policy(found, INPUT)
    assert yaml.safe_load(text)["columns"] == {}
    assert "choose at least one" in text


ROLES = (
    ("email", "'x'", "identifier"),
    ("HomePhone", "string(id % 10)", "identifier"),
    ("customer_id", "id", "identifier"),
    ("region_id", "id % 9", "quasi_identifier"),
    ("free text", "sha2(string(id), 256)", "identifier"),
    ("reference", "xxhash64(id)", "identifier"),
    ("first_name", "string(id % 40)", "identifier"),
    ("city_name", "string(id % 40)", "quasi_identifier"),
    ("Disease", "string(id % 8)", "sensitive"),
    ("salary", "id * 1.5D", "sensitive"),
    ("income", "id * 7", "quasi_identifier"),
    ("amount", "sqrt(id)", "quasi_identifier"),
    ("survey_weight", "id % 7 + 1.0D", "weight"),
    ("weight_kg", "id % 70 + 40.0D", "quasi_identifier"),
    ("label", "int(id % 2)", "target"),
    ("source", "'x'", "keep"),
    ("gone", "int(null)", "keep"),
    ("void", "null", "keep"),
    ("tags", "array(id)", "keep"),
    ("died", "if(id % 9 = 0, true, null)", "quasi_identifier"),
)


@pytest.fixture(scope="module")
def roles(spark: SparkSession) -> dict[str, ColumnProfile]:
    table = spark.range(2000).select([F.expr(value).alias(name) for name, value, _ in ROLES])
    return by_name(profile(table))


@pytest.mark.parametrize(("name", "value", "role"), ROLES)
def test_roles(roles: dict[str, ColumnProfile], name: str, value: str, role: str) -> None:
    assert roles[name].role == role
    assert roles[name].reason


def test_unprotected_types_ask_for_attention(spark: SparkSession) -> None:
    found = profile(spark.range(5).select(F.array("id").alias("visits")))
    assert "CHECK" in starter_policy(found, INPUT)


@pytest.fixture(scope="module")
def sample(spark: SparkSession) -> TableProfile:
    return profile(people(spark, 5000))


def test_roles_of_the_sample_table(sample: TableProfile) -> None:
    expected = {column.name: column.role for column in COLUMNS}
    # That being employed is a class label cannot be seen from the table.
    expected["employed"] = "quasi_identifier"
    assert {column.name: column.role for column in sample.columns} == expected
    assert by_name(sample)["wealth"].null_share == pytest.approx(0.04, abs=0.01)
    assert by_name(sample)["municipality"].top_share == pytest.approx(0.13, abs=0.02)


def test_starter_policy_is_a_valid_policy(sample: TableProfile) -> None:
    text = starter_policy(sample, INPUT, k=7)
    policy = make_policy(parse(text))
    assert policy.k == 7
    assert policy.gates["min_k"] == 7
    assert policy.method.space.key == "gower"
    assert policy.output is not None
    assert policy.output.path == "lake/people_k7"
    assert "quasi-identifiers are many" in text
    assert list(policy.columns) == [column.name for column in COLUMNS]


def test_starter_policy_without_text_is_euclidean(spark: SparkSession) -> None:
    found = profile(people(spark, 100).select("age", "income", "birthday", "diagnosis"))
    text = starter_policy(found, INPUT)
    assert make_policy(parse(text)).method.space.key == "euclidean"
    assert "many" not in text


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ({"format": "csv", "path": "x.csv.gz"}, {"format": "csv", "path": "x_k5"}),
        (
            {"format": "parquet", "path": "s3a://b/people/"},
            {"format": "parquet", "path": "s3a://b/people_k5"},
        ),
        ({"format": "parquet", "path": "d/year=*/p"}, {"format": "parquet", "path": "d_k5"}),
        ({"format": "table", "name": "db.people"}, {"format": "table", "name": "db.people_k5"}),
    ],
)
def test_output_lies_beside_the_input(
    sample: TableProfile, given: dict[str, object], output: dict[str, object]
) -> None:
    loaded = yaml.safe_load(starter_policy(sample, given))
    assert loaded["input"] == given
    assert loaded["output"] == output


NAMES = ["yes", "null", "1", "1e3", "2024-01-01", "y", "a: b", "# x", "'", '"', "a\nb", "😀", "-"]
NAMES += ["{x}", "*a", "&a", "!t", "%d", "@", " lead", "tab\there", "\x7f", "~", "é", "x" * 500]


def test_any_name_survives_yaml(spark: SparkSession) -> None:
    schema = T.StructType([T.StructField(name, T.IntegerType()) for name in NAMES])
    found = profile(spark.createDataFrame([], schema))
    assert list(parse(starter_policy(found, INPUT))["columns"]) == NAMES


def test_too_few_rows_are_noted(spark: SparkSession) -> None:
    assert "fewer rows than k" in starter_policy(profile(people(spark, 4)), INPUT)


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_below_two_is_refused(sample: TableProfile, k: int) -> None:
    with pytest.raises(PolicyError, match="k: must be at least 2"):
        starter_policy(sample, INPUT, k=k)
