"""Top and bottom coding from the outside: limits by sorting, gates that decide, no cell shown."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file
from test_promises import plans

import sparkanon
from sparkanon.engine import pipeline
from sparkanon.engine.cut import cuttings
from sparkanon.engine.pipeline import RefusedError
from sparkanon.errors import InputError, PolicyError, VerificationError

ROWS = 1500
SCHOOLS = ["none", "primary", "secondary", "university"]
SCHEMA = (
    "id int, age int, far bigint, pay double, ratio float, price decimal(30,10), born date, "
    "seen timestamp, local timestamp_ntz, rank int, school string, ill int"
)
QUASI = [field.split()[0] for field in SCHEMA.split(", ")[1:-1]]
COLUMNS: dict[str, Any] = dict.fromkeys(QUASI, "quasi_identifier") | {
    "id": "keep",
    "rank": {"role": "quasi_identifier", "type": "ordinal"},
    "school": {"role": "quasi_identifier", "type": "ordinal", "order": SCHOOLS},
    "ill": "sensitive",
}
SHARE = 0.07


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(5)
    day, now = dt.date(1960, 1, 1), dt.datetime(2020, 1, 1)
    rows = []
    for i in range(ROWS):
        a, b, c = (int(x) for x in rng.integers(0, 400, 3))
        rows.append(
            (
                i, None if i % 9 == 4 else 18 + a % 70, 2**62 + a, float(rng.normal() * 1000),
                float(np.float32(b / 3)), 10**9 + c + Decimal("7e-10"), day + dt.timedelta(a),
                now + dt.timedelta(minutes=b), now - dt.timedelta(seconds=c),
                a % 12, SCHOOLS[b % 4], c % 5,
            )
        )  # fmt: skip
    return spark.createDataFrame(rows, SCHEMA).cache()


def policy(folder: Path, release: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "columns": COLUMNS,
        "output": {"format": "parquet", "path": str(folder / "release")},
        "method": {"release": {"name": "top_bottom"} | (release or {"share": SHARE})},
        "gates": {"max_below_k": 1.0},
        "k": 3,  # for max_below_k
        "seed": {"file": seed_file(folder)},
        "runs": str(folder / "runs"),
    } | changes


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuttings, "UNGROUPED_ROWS", 200)


def by_id(data: DataFrame | None) -> dict[int, Any]:
    assert data is not None
    return {row["id"]: row for row in data.collect()}


def place(name: str) -> Any:
    """What a column's values are sorted by."""
    return SCHOOLS.index if name == "school" else lambda value: value


def expected(old: dict[int, Any], name: str) -> dict[int, Any]:
    """The column as it must be published, by sorting it."""
    known = sorted((row[name] for row in old.values() if row[name] is not None), key=place(name))
    m = ceil(Fraction(str(SHARE)) * len(known))
    low, high = known[m - 1], known[-m]
    found = {}
    for i, row in old.items():
        cell, at = row[name], place(name)
        if cell is not None:
            cell = low if at(cell) < at(low) else high if at(cell) > at(high) else cell
        found[i] = cell
    return found


def test_all_types_are_coded_as_by_sorting(
    table: DataFrame, tmp_path: Path, small_blocks: None
) -> None:
    made = sparkanon.anonymize(table, policy(tmp_path))
    assert made.data is not None
    assert made.data.schema["price"].dataType == table.schema["price"].dataType
    assert [f.dataType for f in made.data.schema] == [f.dataType for f in table.schema]
    assert made.manifest["blocks"] > 4
    old, new = by_id(table), by_id(made.data)
    assert new.keys() == old.keys()
    for name in QUASI:
        wanted = expected(old, name)
        if name == "price":  # a double does not hold its digits: the limits alone lose them
            ends = {min(wanted.values()), max(wanted.values())}
            assert all(new[i][name] == c for i, c in wanted.items() if c not in ends)
            coded = {(c, new[i][name]) for i, c in wanted.items() if c in ends}
            assert len(coded) == 2
            assert all(abs(c - z) < Decimal("1e-6") for c, z in coded)
            continue
        assert {i: new[i][name] for i in old} == wanted, name


def test_partitions_and_blocks_do_not_matter(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(layout: DataFrame) -> Counter[Any]:
        made = sparkanon.anonymize(layout, policy(tmp_path))
        assert made.data is not None
        return Counter(map(tuple, made.data.collect()))

    whole = rows(table)
    monkeypatch.setattr(cuttings, "UNGROUPED_ROWS", 200)
    assert rows(table.coalesce(1)) == rows(table.repartition(7, "age")) == whole


@pytest.mark.parametrize("nulls", ["drop_row", "impute"])
def test_limits_are_those_of_the_rows_that_take_part(
    table: DataFrame, tmp_path: Path, nulls: str
) -> None:
    made = sparkanon.anonymize(table, policy(tmp_path, nulls=nulls))
    old, new = by_id(table), by_id(made.data)
    if nulls == "drop_row":
        old = {i: row for i, row in old.items() if row["age"] is not None}
        assert new.keys() == old.keys()
        assert {i: row["age"] for i, row in new.items()} == expected(old, "age")
        return
    filled = {new[i]["age"] for i, row in old.items() if row["age"] is None}
    assert len(filled) == 1
    ages = {i: {"age": row["age"] or filled.copy().pop()} for i, row in old.items()}
    assert {i: row["age"] for i, row in new.items()} == expected(ages, "age")


def test_stated_limits(table: DataFrame, tmp_path: Path) -> None:
    limits: dict[str, Any] = {
        "age": {"low": 30, "high": 60}, "born": {"high": "1960-06-01"},
        "school": {"low": "primary", "high": "secondary"}, "far": {"low": 2**62 + 100},
        "local": {"low": "2019-12-31T23:59:00"},
    }  # fmt: skip
    made = sparkanon.anonymize(table, policy(tmp_path, {"share": SHARE, "limits": limits}))
    old, new = by_id(table), by_id(made.data)
    for i, row in old.items():
        age = row["age"]
        assert new[i]["age"] == (None if age is None else min(max(age, 30), 60))
        assert new[i]["born"] == min(row["born"], dt.date(1960, 6, 1))
        assert new[i]["far"] == max(row["far"], 2**62 + 100)
        assert new[i]["local"] == max(row["local"], dt.datetime(2019, 12, 31, 23, 59))
        assert SCHOOLS.index(new[i]["school"]) == min(max(SCHOOLS.index(row["school"]), 1), 2)
    assert {i: row["rank"] for i, row in new.items()} == expected(old, "rank")
    wrong = {"limits": limits | {"born": {"low": "Zanzibar"}}, "share": SHARE}
    with pytest.raises(InputError) as caught:
        sparkanon.anonymize(table, policy(tmp_path, wrong))
    (problem,) = caught.value.problems
    assert problem.path == "method.release.limits.born.low"
    assert "Zanzibar" not in problem.message


# Nothing is guaranteed: gates decide


def test_nothing_is_read_without_a_gate_on_a_risk_or_with_an_unused_k(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="guarantees nothing, so a gate on a risk"):
        sparkanon.anonymize(None, policy(tmp_path, k=None, gates={"max_il": 50}))
    with pytest.raises(PolicyError, match=r"k: is not used: release 'top_bottom'"):
        sparkanon.anonymize(None, policy(tmp_path, gates={"max_uniqueness": 0.5}))


def test_a_gate_stops_it_and_the_manifest_says_what_stood_guard(
    table: DataFrame, tmp_path: Path
) -> None:
    gates = {"max_linkage_masked_to_original": 1.0, "max_uniqueness": 1.0}
    given = policy(tmp_path, k=None, gates=gates)
    made = sparkanon.anonymize(table, given)
    promise = made.manifest["promise"]
    assert promise["text"].startswith("Nothing is guaranteed")
    assert promise["gates_passed"] == list(gates)
    assert (promise["k"], promise["rows"], made.manifest["k"]) == (None, "same", None)
    assert "below_k" not in {m.measure for m in made.measures}
    assert [gate.gate for gate in made.gates] == list(gates)
    public = json.loads((tmp_path / "release" / "_sparkanon.json").read_text())
    assert public["promise"] == promise
    assert public["k"] is None
    before = by_id(made.data)
    strict = {"max_linkage_masked_to_original": 0.001, "max_uniqueness": 1.0}
    with pytest.raises(RefusedError, match=r"gates\.max_linkage_masked_to_original") as refused:
        sparkanon.anonymize(table, given | {"gates": strict})
    assert refused.value.exit_code == 3
    assert refused.value.release.manifest["promise"]["gates_passed"] == ["max_uniqueness"]
    assert by_id(made.data) == before


def test_lost_rows_are_caught_on_the_staged_table(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None
) -> None:
    whole = pipeline.stage

    def losing(*given: Any) -> Any:
        staged = whole(*given)
        next(given[4].table.glob("part-*")).unlink()
        return staged

    monkeypatch.setattr(pipeline, "stage", losing)
    with pytest.raises(
        VerificationError, match=rf"rows: [\d,]+ rows are staged for {ROWS:,} records"
    ):
        sparkanon.anonymize(table, policy(tmp_path))
    assert not (tmp_path / "release").exists()


def test_no_limit_stands_in_plans_or_beside_the_release(
    spark: SparkSession, tmp_path: Path, small_blocks: None
) -> None:
    """The limit is a cell: one person's, if no other has it."""
    given = spark.range(1000).selectExpr(
        "if(id < 900, id, 471147114 + id) as pay", "id % 7 as ill"
    )
    given.write.parquet(str(tmp_path / "given"))
    given = spark.read.parquet(str(tmp_path / "given"))
    earlier = max(plans(spark))
    columns = {"pay": "quasi_identifier", "ill": "sensitive"}
    gates = {"max_uniqueness": 1.0}
    made = sparkanon.anonymize(given, policy(tmp_path, columns=columns, gates=gates, k=None))
    own = "".join(plan for number, plan in plans(spark).items() if number > earlier)
    assert "MapInArrow" in own
    (limit,) = [v for v, n in Counter(by_pay(made.data)).items() if n > 1 and v > 900]
    assert limit == 471147114 + 930
    files = [*(tmp_path / "runs").rglob("*.json"), tmp_path / "release" / "_sparkanon.json"]
    assert len(files) == 3
    for reported in (own, json.dumps(made.manifest), *(file.read_text() for file in files)):
        assert "4711" not in reported


def by_pay(data: DataFrame | None) -> list[int]:
    assert data is not None
    return [row["pay"] for row in data.collect()]


def test_an_audit_without_the_pairing_does_not_guess_the_loss(
    table: DataFrame, tmp_path: Path
) -> None:
    private = {"path": str(tmp_path / "pairs")}
    given = policy(tmp_path, private=private, audit={"take": ["il", "min_class_size"]})
    made = sparkanon.anonymize(table, given)
    (loss,) = [m.value for m in made.measures if (m.measure, m.column) == ("il", None)]
    paired = sparkanon.audit(table, None, given)
    assert [m.value for m in paired.measures if (m.measure, m.column) == ("il", None)] == [
        pytest.approx(loss)
    ]
    alone = sparkanon.audit(table, None, given | {"private": None})
    assert alone.left_out["il"].startswith("values as they were are not means of their groups")
