"""The generalize release from the outside: what is published covers the originals, all types."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.engine.audit.run import no_means
from sparkanon.errors import InputError, PolicyError
from sparkanon.policy import make_policy

SCHEMA = (
    "id int, age int, income double, ratio float, price decimal(10,2), born date, "
    "seen timestamp, local timestamp_ntz, member boolean, school string, town string, kind string"
)
SCHOOLS = ["none", "primary", "secondary", "university"]
TOWNS = {"north": ["Aa", "B, by", "Ce"], "south": {"coast": ["Do", "Em"], "hills": ["Fo"]}}
QUASI = [field.split()[0] for field in SCHEMA.split(", ")[1:]]
COLUMNS: dict[str, Any] = dict.fromkeys(QUASI, "quasi_identifier")
COLUMNS |= {
    "id": "keep",
    "school": {"role": "quasi_identifier", "type": "ordinal", "order": SCHOOLS},
}
RELEASE = {"name": "generalize", "taxonomies": {"town": TOWNS}}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(11)
    day, now = dt.date(1980, 1, 1), dt.datetime(2020, 1, 1)
    rows = []
    for i in range(240):
        a, b, c = (int(x) for x in rng.integers(0, 60, 3))
        age = None if i % 40 == 7 else 20 + a
        rows.append(
            (
                i, age, 1000.0 * a + b / 7, float(np.float32(b / 3)), Decimal(c) / 4 - 3,
                day + dt.timedelta(days=31 * b), now + dt.timedelta(minutes=77 * c),
                now - dt.timedelta(seconds=a), bool(c % 2), SCHOOLS[b % 4],
                ["Aa", "B, by", "Ce", "Do", "Em", "Fo"][c % 6], "xyz"[a % 3],
            )
        )  # fmt: skip
    return spark.createDataFrame(rows, SCHEMA)


def released(table: DataFrame, **changes: Any) -> sparkanon.engine.pipeline.Release:
    policy = {"columns": COLUMNS, "k": 4} | changes
    policy["method"] = {
        "space": "gower",
        "grouping": "mondrian",
        "release": RELEASE,
    } | changes.get("method", {})
    return sparkanon.anonymize(table, policy, spark=table.sparkSession)


@pytest.fixture(scope="module")
def made(table: DataFrame) -> sparkanon.engine.pipeline.Release:
    return released(table)


def ends(text: str) -> list[str]:
    return text[1:-1].split(", ") if text.startswith("[") else [text, text]


def stamp(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text.removesuffix("Z"))


def test_every_original_is_behind_its_cell(
    table: DataFrame, made: sparkanon.engine.pipeline.Release, spark: SparkSession
) -> None:
    assert made.data is not None
    assert {f.dataType.simpleString() for f in made.data.schema if f.name != "id"} == {"string"}
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")  # as the cells are written
    try:
        originals = {row["id"]: row for row in table.collect()}
        rows = made.data.collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    read = {
        "age": int, "income": float, "ratio": lambda t: float(np.float32(t)), "price": Decimal,
        "born": dt.date.fromisoformat, "seen": stamp, "local": stamp,
    }  # fmt: skip
    seen: set[str] = set()
    for row in rows:
        original = originals[row["id"]]
        for name, parse in read.items():
            if row[name] == "*":
                assert name == "age", "only the age has nulls"
                continue
            low, high = (parse(end) for end in ends(row[name]))
            value = original[name]
            if name == "seen":
                value = value.astimezone(dt.UTC).replace(tzinfo=None)
            assert low <= value <= high, name
            seen |= {name} if low < high else set()
        for name in ("school", "kind", "member"):
            text = str(original[name]).lower() if name == "member" else original[name]
            assert text in re.split(r"[{},]", row[name])
        below = {
            "north": ["Aa", "B, by", "Ce"], "coast": ["Do", "Em"], "hills": ["Fo"],
            "south": ["Do", "Em", "Fo"], "*": ["Aa", "B, by", "Ce", "Do", "Em", "Fo"],
        }  # fmt: skip
        assert original["town"] in below.get(row["town"], [row["town"]])
    assert seen == set(read), "every type was published as a range somewhere"


def test_k_rows_tell_the_same(made: sparkanon.engine.pipeline.Release) -> None:
    assert made.data is not None
    assert made.data.groupBy(*QUASI).count().agg({"count": "min"}).collect()[0][0] >= 4


@pytest.mark.parametrize("partitions", [1, 7])
def test_partitions_do_not_matter(
    table: DataFrame, made: sparkanon.engine.pipeline.Release, partitions: int
) -> None:
    other = released(table.repartition(partitions))
    assert made.data is not None
    assert other.data is not None
    assert sorted(made.data.collect()) == sorted(other.data.collect())


def test_the_audit_reads_it_as_anonymize_measured_it(table: DataFrame, tmp_path: Path) -> None:
    path = str(tmp_path / "release")
    made = released(
        table,
        output={"format": "parquet", "path": path},
        audit={"take": ["il", "mse", "interval_sd"]},
        runs=str(tmp_path / "runs"),
        # no taxonomy: a word says nothing about the values below it to an auditor
        method={"release": "generalize"},
    )
    policy = {"columns": COLUMNS, "k": 4, "method": {"space": "gower"}}
    columns = policy["columns"] | {"id": "identifier"}
    audited = sparkanon.audit(
        table,
        table.sparkSession.read.parquet(path),
        policy | {"columns": columns, "audit": {"take": ["il", "mse", "interval_sd"]}},
        key="id",
        spark=table.sparkSession,
    )
    own = {(m.measure, m.column): m.value for m in made.measures}
    theirs = {(m.measure, m.column): m.value for m in audited.measures}
    for name in ("mse", "interval_sd", "il"):
        assert theirs[name, None] == pytest.approx(own[name, None], rel=1e-6), name


def test_ends_of_ranges_are_cells_even_where_no_double_holds_them(spark: SparkSession) -> None:
    far = 2**62  # beside a 0: doubles around it are 1024 apart
    rows = [(far + i, Decimal(10**18 - 1 - i)) for i in range(30)]
    rows += [(-i, Decimal(i)) for i in range(30)]
    data = spark.createDataFrame(rows, "n bigint, d decimal(18,0)")
    made = released(
        data,
        columns=dict.fromkeys("nd", "quasi_identifier"),
        k=30,
        method={"release": "generalize"},
    )
    assert made.data is not None
    assert {tuple(row) for row in made.data.collect()} == {
        (f"[{far}, {far + 29}]", f"[{10**18 - 30}, {10**18 - 1}]"),
        ("[-29, 0]", "[0, 29]"),
    }


def test_a_taxonomy_over_categories_of_any_type(spark: SparkSession, tmp_path: Path) -> None:
    trees = {
        "d": {"small": ["1.0", "2.5"], "large": ["1.0E20"]},
        "f": {"small": ["1.0", "2.5"]},
        "m": {"cheap": ["1.50", "0.00"]},
        "t": {"old": ["1999-12-31 00:00:00", "1999-12-31 23:59:59.5"]},
        "u": {"old": ["1999-12-31 00:00:00"]},
        "b": {"any": ["true", "false"]},
        "i": {"odd": ["1", "3"]},
        "o": {"old": ["1999-12-31"]},
    }
    kinds = ["double", "float", "decimal(4,2)", "timestamp", "timestamp_ntz", "boolean", "int"]
    cells = []
    for (name, tree), kind in zip(trees.items(), [*kinds, "date"], strict=True):
        values = [value for below in tree.values() for value in below]
        listed = ", ".join(map(repr, values))
        cell = f"element_at(array({listed}), 1 + int(id) % {len(values)})"
        cells.append(f"cast({cell} as {kind}) as {name}")
    nominal = {"role": "quasi_identifier", "type": "nominal"}
    policy = {
        "columns": dict.fromkeys(trees, nominal),
        "k": 12,
        "method": {"space": "gower", "release": {"name": "generalize", "taxonomies": trees}},
        "output": {"format": "parquet", "path": str(tmp_path / "release")},
        "runs": str(tmp_path / "runs"),
        "private": {"path": str(tmp_path / "pairs")},
        "audit": {"take": ["il"]},
    }
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        data = spark.range(12).selectExpr(*cells)
        made = sparkanon.anonymize(data, policy, spark=spark)
        audited = sparkanon.audit(data, None, policy, spark=spark)
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert made.data is not None
    words = ("*", "small", "cheap", "old", "1999-12-31 00:00:00", "any", "odd", "1999-12-31")
    assert {tuple(row) for row in made.data.collect()} == {words}
    assert audited.measures


def test_values_that_the_taxonomy_does_not_know(table: DataFrame) -> None:
    short = {"name": "generalize", "taxonomies": {"town": {"north": ["Aa", "B, by", "Ce"]}}}
    message = r"method\.release\.taxonomies\.town: \d+ cells hold a value not listed"
    with pytest.raises(InputError, match=message):
        released(table, method={"release": short})


def test_a_taxonomy_is_for_categories(table: DataFrame) -> None:
    wrong = {"name": "generalize", "taxonomies": {"age": {"any": [20, 21]}}}
    with pytest.raises(InputError, match=r"columns\.age: .* taxonomy is for type: nominal"):
        released(table, method={"release": wrong})


def test_mistakes_in_a_taxonomy_are_reported_with_their_path(table: DataFrame) -> None:
    wrong = {"name": "generalize", "taxonomies": {"town": {"any": ["Aa", "Aa"]}}}
    with pytest.raises(PolicyError, match=r"method\.release\.taxonomies\.town: 1 value stands"):
        released(table, method={"release": wrong})


def test_loss_is_not_reported_from_middles_alone() -> None:
    policy = {
        "columns": {"age": "quasi_identifier", "w": "weight"},
        "k": 3,
        "method": {"release": "generalize"},
    }
    assert "middles of ranges" in (no_means(make_policy(policy)) or "")
    assert "weighted centres" in (no_means(make_policy(policy | {"method": {}})) or "")
    plain = policy | {"method": {}, "columns": {"age": "quasi_identifier"}}
    assert no_means(make_policy(plain)) is None
