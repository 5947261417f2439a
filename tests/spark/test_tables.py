"""Tables in and out of every format, and what becomes of their columns."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections import Counter
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from seeds import seed_text

import sparkanon
from sparkanon.engine.table.tables import read
from sparkanon.policy import Source

QUASI = "quasi_identifier"
UTC = dt.UTC


@pytest.fixture(autouse=True)
def _seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLES_SEED", seed_text())


def policy(tmp_path: Path, columns: dict[str, Any], k: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "columns": columns,
        "k": k,
        "seed": {"env": "TABLES_SEED"},
        "runs": str(tmp_path / "runs"),
    } | more


def multiset(data: Any) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in data.collect())


def cells(data: Any, *names: str) -> Counter[Any]:
    wanted = names or tuple(data.columns)
    rows = [tuple(row[name] for name in wanted) for row in data.collect()]
    return Counter(row[0] if len(wanted) == 1 else row for row in rows)


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    """Two far apart clusters of 3 and 4: with k = 3 the groups are obvious."""
    rows = [
        ("01", 20, 1000.0, "north", "flu"),
        ("02", 21, 1010.0, "north", "cold"),
        ("03", 24, 1020.0, "north", None),
        ("04", 70, 9000.0, "south", "flu"),
        ("05", 71, 9010.0, "south", ""),
        ("06", 71, 9020.0, "south", " gout"),
        ("07", 73, 9030.0, "south", 'a "b", c\nd'),
    ]
    return spark.createDataFrame(
        rows, "id string, age int, income double, region string, illness string"
    )


ROLES = {
    "id": "identifier",
    "age": QUASI,
    "income": QUASI,
    "region": "keep",
    "illness": "sensitive",
}
MASKED = Counter(
    {
        (22, 1010.0, "north", "flu"): 1,  # 65 / 3 = 21.67
        (22, 1010.0, "north", "cold"): 1,
        (22, 1010.0, "north", None): 1,
        (71, 9015.0, "south", "flu"): 1,  # 285 / 4 = 71.25
        (71, 9015.0, "south", ""): 1,
        (71, 9015.0, "south", " gout"): 1,
        (71, 9015.0, "south", 'a "b", c\nd'): 1,
    }
)
PUBLIC = ("age", "income", "region", "illness")


def only(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- formats


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("partition_by", [[], ["region"]])
def test_files_in_and_out(
    people: Any, spark: Any, tmp_path: Path, form: str, partition_by: list[str]
) -> None:
    source, sink = tmp_path / "in", tmp_path / "out" / "release"
    options = {"header": True, "multiLine": True, "ignoreLeadingWhiteSpace": False}
    people.write.format(form).options(**options).save(str(source))
    chosen = policy(
        tmp_path,
        ROLES,
        input={"format": form, "path": str(source)}
        | ({"options": {"multiLine": True}} if form == "csv" else {}),
        output={"format": form, "path": str(sink), "partition_by": partition_by},
    )
    first = sparkanon.anonymize(None, chosen, spark=spark)
    masked = multiset(first.data.select(*PUBLIC).replace("", None))  # CSV knows no empty text
    assert masked == Counter(repr((*row[:3], row[3] or None)) for row in MASKED)
    assert first.data.columns == list(PUBLIC)
    assert dict(first.data.dtypes)["age"] == "int"
    if partition_by:
        assert {"region=north", "region=south"} <= set(only(sink))
    if not partition_by:
        again = sparkanon.anonymize(None, chosen, spark=spark)
        assert multiset(again.data.select(*PUBLIC).replace("", None)) == masked
    assert only(sink.parent) == ["release"]  # no staging left
    assert first.manifest_path is not None
    reported = json.loads(first.manifest_path.read_text())
    assert (reported["rows_in"], reported["rows_out"], reported["min_class_size"]) == (7, 7, 3)
    assert reported["input"]["version"] is None


def test_delta_reads_a_pinned_version_and_publishes_one_commit(
    people: Any, spark: Any, tmp_path: Path
) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    people.limit(1).write.format("delta").save(str(source))
    people.write.format("delta").mode("overwrite").save(str(source))
    chosen = policy(
        tmp_path,
        ROLES,
        input={"format": "delta", "path": str(source)},
        output={"format": "delta", "path": str(sink)},
    )
    first = sparkanon.anonymize(None, chosen, spark=spark)
    assert first.manifest["input"]["version"] == 1
    assert cells(first.data, *PUBLIC) == MASKED
    again = sparkanon.anonymize(None, chosen, spark=spark)
    history = spark.sql(f"DESCRIBE HISTORY delta.`{sink}`").orderBy("version").collect()
    assert [row["version"] for row in history] == [0, 1]
    runs = [json.loads(row["userMetadata"])["sparkanon_run_id"] for row in history]
    assert runs == [first.run_id, again.run_id]
    assert cells(again.data, *PUBLIC) == MASKED
    assert only(tmp_path) == ["in", "out", "runs"]
    chosen["input"]["version"] = 0
    with pytest.raises(sparkanon.InputError, match="more than the 1 row"):
        sparkanon.anonymize(None, chosen, spark=spark)


def test_delta_path_may_be_relative(people: Any, spark: Any, tmp_path: Path) -> None:
    from sparkanon.engine.table import tables
    from sparkanon.policy.model import Source

    people.write.format("delta").save(str(tmp_path / "it's in"))
    path = os.path.relpath(tmp_path / "it's in")
    assert tables.read(spark, Source(format="delta", path=path)).version == 0


@pytest.mark.parametrize("using", [None, "delta"])
def test_catalog_tables(people: Any, spark: Any, tmp_path: Path, using: str | None) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    people.write.format(using or "parquet").mode("overwrite").saveAsTable("shop.people")
    sink = {"format": "table", "name": "shop.`people_k`", "partition_by": ["region"]}
    chosen = policy(
        tmp_path,
        ROLES,
        input={"format": "table", "name": "shop.people"},
        output=sink | ({"using": using} if using else {}),
    )
    try:
        first = sparkanon.anonymize(None, chosen, spark=spark)
        assert cells(first.data, *PUBLIC) == MASKED
        assert first.manifest["input"]["version"] == (0 if using else None)
        again = sparkanon.anonymize(None, chosen, spark=spark)
        assert cells(spark.table("shop.`people_k`"), *PUBLIC) == MASKED
        listed = spark.sql("SHOW TABLES IN shop").filter("not isTemporary").collect()
        names = {row["tableName"] for row in listed}
        assert names == {"people", "people_k"}
        if using:
            history = spark.sql("DESCRIBE HISTORY shop.`people_k`").orderBy("version").collect()
            assert [again.run_id in row["userMetadata"] for row in history] == [False, True]
        # the input is no release, so it can never be taken for one, however its name is written
        chosen["input"]["name"] = "shop.`people`"
        for name, error, words in (
            ("shop.PEOPLE", sparkanon.PolicyError, "is the input table"),
            ("spark_catalog.shop.PEOPLE", sparkanon.InputError, "is no release of sparkanon"),
        ):
            chosen["output"] = sink | {"name": name, "using": using or "parquet"}
            with pytest.raises(error, match=words):
                sparkanon.anonymize(None, chosen, spark=spark)
        assert spark.table("shop.people").count() == 7
    finally:
        spark.sql("DROP DATABASE shop CASCADE")


def test_csv_types_as_declared_else_inferred(spark: Any, tmp_path: Path) -> None:
    source, sink = tmp_path / "people.csv", tmp_path / "out"
    lines = [f"{zipped};{age};00{age};2020-01-0{1 + i}" for i, (zipped, age) in enumerate(ZIPS)]
    source.write_text("\n".join(["zip;age;code;day", *lines]) + "\n")
    columns = {
        "zip": {"role": QUASI, "type": "nominal"},
        "age": QUASI,
        "code": "keep",
        "day": {"role": QUASI, "type": "date"},
    }
    chosen = policy(
        tmp_path,
        columns,
        method={"space": "gower"},
        input={"format": "csv", "path": str(source), "options": {"sep": ";"}},
        output={"format": "csv", "path": str(sink), "options": {"sep": "|"}},
    )
    data = sparkanon.anonymize(None, chosen, spark=spark).data
    assert cells(data, "zip") == {"01234": 3, "09876": 3}
    assert data.schema["age"].dataType.simpleString() == "int"
    assert cells(data, "age", "day") == {
        (21, dt.date(2020, 1, 2)): 3,
        (61, dt.date(2020, 1, 5)): 3,
    }
    assert cells(data, "code") == {f"00{age}": 1 for _, age in ZIPS}  # text in, the same text out
    part = next(sink.glob("part-*")).read_text()
    assert part.splitlines()[0] == "zip|age|code|day"
    # declared types win over inferred ones
    types = "zip INT, age DOUBLE, code STRING, day STRING"
    chosen["input"] |= {"types": types}
    chosen["columns"] |= {"zip": QUASI, "day": "keep"}
    chosen |= {"method": {}, "output": None}
    data = sparkanon.anonymize(None, chosen, spark=spark).data
    assert [kind for _, kind in data.dtypes] == ["int", "double", "string", "string"]
    assert cells(data, "zip") == {1234: 3, 9876: 3}


def csv_to_csv(
    spark: Any, tmp_path: Path, lines: list[str], columns: dict[str, Any], **more: Any
) -> Any:
    source, sink = tmp_path / "people.csv", tmp_path / "out"
    source.write_text("\n".join([",".join(columns), *lines]) + "\n")
    chosen = policy(
        tmp_path,
        columns,
        input={"format": "csv", "path": str(source)},
        output={"format": "csv", "path": str(sink)},
        **more,
    )
    return sparkanon.anonymize(None, chosen, spark=spark)


def test_a_weight_from_csv_to_csv_is_a_number(spark: Any, tmp_path: Path) -> None:
    lines = ["10,1", "20,2.0", "60,5", "1010,1", "1020,2", "1060,5.00"]
    data = csv_to_csv(spark, tmp_path, lines, {"age": QUASI, "w": "weight"}).data
    # (10 + 40 + 300) / 8 = 43.75
    assert cells(data, "age", "w") == {(age, w): 1 for age in (44, 1044) for w in (1.0, 2.0, 5.0)}


@pytest.mark.parametrize(
    "promise",
    [{"constraints": {"l_diversity": 2}}, {"gates": {"min_l_distinct": 2}}],
    ids=lambda promise: next(iter(promise)),
)
def test_five_is_one_value_from_csv_to_csv(spark: Any, tmp_path: Path, promise: Any) -> None:
    """However it is spelled: a group of 5, 5.0 and 05 is not diverse."""
    lines = [f"{i},0{i},{v}" for i, v in enumerate(("5", "5.0", "05"))]
    lines += [f"{100 + i},0{i},{v}" for i, v in enumerate(("5", "6", "7"))]
    columns = {"age": QUASI, "code": "keep", "pay": "sensitive"}
    if "gates" in promise:
        with pytest.raises(sparkanon.GateError, match="min_l_distinct"):
            csv_to_csv(spark, tmp_path, lines, columns, **promise)
        return
    data = csv_to_csv(spark, tmp_path, lines, columns, **promise).data
    assert cells(data, "age") == {51: 6}  # 306 / 6: the two groups had to be joined
    assert cells(data, "pay") == {5.0: 4, 6.0: 1, 7.0: 1}
    assert cells(data, "code") == {f"0{i}": 2 for i in range(3)}, "text that nobody counts stays"


def test_closeness_of_numbers_from_csv_to_csv_is_by_rank(spark: Any, tmp_path: Path) -> None:
    lines = [f"{far + i},{far + i}" for far in (0, 100) for i in range(3)]
    columns = {"age": QUASI, "pay": "sensitive"}
    made = csv_to_csv(spark, tmp_path, lines, columns, constraints={"t_closeness": 0.4})
    # hand: a class holds the lower half of six values: (1 + 2 + 3 + 2 + 1) / 6 / 5 = 0.3,
    # which is below 0.4, and 0.5 if the values had no order
    assert {m.value for m in made.measures if m.measure == "t_closeness"} == {0.3}


def test_classes_of_a_target_from_csv_to_csv_are_numbers(spark: Any, tmp_path: Path) -> None:
    lines = [f"{i},{(7 * i) % 5},{('1', '1.0', '0', '0.0')[i % 4]}" for i in range(40)]
    columns = {"x": QUASI, "y": QUASI, "class": "target"}
    method = {"space": {"name": "lda", "target": "class", "alpha": 4.0}}
    made = csv_to_csv(spark, tmp_path, lines, columns, method=method)
    assert made.manifest["fitted"]["classes"] == 2


ZIPS = [("01234", 20), ("01234", 21), ("01234", 22), ("09876", 60), ("09876", 61), ("09876", 62)]


# --- names


NAMES = ("a b", "c.d", "größe 日本", "tick`s", "count", "e.f g`h")


@pytest.mark.parametrize("form", ["parquet", "csv", "delta", "table"])
def test_any_column_name(spark: Any, tmp_path: Path, form: str) -> None:
    rows = [(float(i), i, i % 3, 100 * (i // 3), f"n{i % 2}", f"x{i}") for i in range(6)]
    data = spark.createDataFrame(rows).toDF(*NAMES)
    columns = dict.fromkeys(NAMES[:4], QUASI) | {
        NAMES[4]: {"role": QUASI, "type": "nominal"},
        NAMES[5]: "keep",
    }
    sink = {"format": form, "partition_by": ["c.d"]}
    sink |= {"name": "odd_names"} if form == "table" else {"path": str(tmp_path / "out")}
    chosen = policy(
        tmp_path,
        columns,
        output=sink,
        method={"space": {"name": "gower", "weights": {"c.d": 2}}},
    )
    if form == "table":
        spark.sql("DROP TABLE IF EXISTS odd_names")
    for _ in range(1 if form in ("parquet", "csv") else 2):
        released = sparkanon.anonymize(data, chosen, spark=spark).data
    assert sorted(released.columns) == sorted(NAMES)
    assert cells(released, "a b", "c.d", "tick`s", "count") == {
        (1.0, 1, 0, "n0"): 3,
        (4.0, 4, 100, "n1"): 3,
    }
    assert cells(released, "e.f g`h") == {f"x{i}": 1 for i in range(6)}


def test_names_of_the_engine_are_refused(spark: Any, tmp_path: Path) -> None:
    data = spark.range(9).withColumnRenamed("id", "__sparkanon_key")
    with pytest.raises(sparkanon.InputError, match="are reserved"):
        sparkanon.anonymize(data, policy(tmp_path, {"__sparkanon_key": QUASI}), spark=spark)


# --- types


BIG = 2**62 + 12_345
TYPED: dict[str, tuple[str, list[Any], tuple[Any, Any]]] = {
    # name: its type, six values, what the two groups of three become
    "tiny": ("tinyint", [1, 2, 4, 120, 121, 127], (2, 123)),
    "short": ("smallint", [-5, -5, -4, 32_000, 32_001, 32_767], (-5, 32_256)),
    "whole": ("int", [1, 1, 3, 2_000_000_000, 2_000_000_001, 2_000_000_003], (2, 2_000_000_001)),
    "big": (
        "bigint",
        [BIG, BIG + 1, BIG + 5, BIG + 1000, BIG + 1001, BIG + 1002],
        (BIG + 2, BIG + 1001),
    ),
    "single": ("float", [0.5, 1.0, 1.5, 100.0, 100.5, 101.0], (1.0, 100.5)),
    "double": ("double", [0.5, 1.0, 2.25, 100.0, 101.0, 103.5], (1.25, 101.5)),
    "money": (
        "decimal(14,2)",
        [Decimal(cents) / 100 for cents in (100, 101, 105)]
        + [Decimal(99_999_999_999_900 + cents) / 100 for cents in (90, 91, 99)],
        (Decimal("1.02"), Decimal("999999999999.93")),
    ),
    "exact": (
        "decimal(30,4)",
        [Decimal(n) / 10_000 for n in (1, 2, 6)]
        + [Decimal(n) / 2 for n in (14_000_000_000, 14_000_000_001, 14_000_000_002)],
        (Decimal("0.0003"), Decimal("7000000000.5000")),
    ),
    "day": (
        "date",
        [dt.date(1960, 1, d) for d in (1, 2, 6)] + [dt.date(2020, 2, d) for d in (27, 28, 29)],
        (dt.date(1960, 1, 3), dt.date(2020, 2, 28)),
    ),
    "moment": (
        "timestamp_ltz",
        [dt.datetime(1960, 1, 1, 12, m, tzinfo=UTC) for m in (0, 1, 2)]
        + [dt.datetime(2024, 7, 1, 12, 0, 0, us, tzinfo=UTC) for us in (0, 1, 5)],
        (
            dt.datetime(1960, 1, 1, 12, 1, tzinfo=UTC),
            dt.datetime(2024, 7, 1, 12, 0, 0, 2, tzinfo=UTC),
        ),
    ),
    "local": (
        "timestamp_ntz",
        [dt.datetime(1960, 1, 1, 12, m) for m in (0, 1, 2)]
        + [dt.datetime(2024, 3, 31, 2, 30, 0, us) for us in (1, 2, 6)],
        (dt.datetime(1960, 1, 1, 12, 1), dt.datetime(2024, 3, 31, 2, 30, 0, 3)),
    ),
    "flag": ("boolean", [True, True, False, False, False, True], (True, False)),
    "grade": ("string", ["low", "low", "mid", "high", "high", "mid"], ("low", "high")),
    "level": ("int", [10, 10, 30, 20, 20, 20], (10, 20)),
}
ORDERS = {"grade": ["low", "mid", "high"], "level": [30, 10, 20]}


def typed_columns() -> dict[str, Any]:
    columns: dict[str, Any] = dict.fromkeys(TYPED, QUASI)
    for name, order in ORDERS.items():
        columns[name] = {"role": QUASI, "type": "ordinal", "order": order}
    return columns


@pytest.fixture(scope="module")
def typed(spark: Any) -> Any:
    kept = spark.conf.get("spark.sql.session.timeZone")
    schema = ", ".join(f"{name} {kind}" for name, (kind, *_) in TYPED.items())
    data = spark.createDataFrame(
        list(zip(*(values for _, values, _ in TYPED.values()), strict=True)), schema
    )
    yield data
    spark.conf.set("spark.sql.session.timeZone", kept)


def instants(counted: dict[Any, int], kind: str) -> dict[Any, int]:
    """Spark hands a timestamp over in the machine's own zone."""
    if kind != "timestamp_ltz":
        return dict(counted)
    return {moment.astimezone(UTC): n for moment, n in counted.items()}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_types_are_kept_and_means_rounded_to_the_nearest(
    typed: Any, spark: Any, tmp_path: Path, form: str
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC" if form == "parquet" else "Europe/Berlin")
    sink = {"format": form, "path": str(tmp_path / "out")}
    chosen = policy(tmp_path, typed_columns(), output=sink)
    released = sparkanon.anonymize(typed, chosen, spark=spark)
    assert released.data.dtypes == typed.dtypes
    for name, (kind, _, (low, high)) in TYPED.items():
        assert instants(cells(released.data, name), kind) == instants({low: 3, high: 3}, kind), (
            name
        )
    lost = {m.column: m.value for m in released.measures if m.measure == "il" and m.column}
    # hand: 100 * (14 + 2) / (sum of squares around the mean of all six)
    assert lost["big"] == pytest.approx(100 * 16 / 1_497_016, rel=1e-3)


def test_every_type_can_be_nominal(typed: Any, spark: Any, tmp_path: Path) -> None:
    columns = {name: {"role": QUASI, "type": "nominal"} for name in TYPED}
    data = typed.union(typed).union(typed)  # each row three times: it keeps its own cells
    chosen = policy(tmp_path, columns, method={"space": "gower"})
    released = sparkanon.anonymize(data, chosen, spark=spark).data
    assert released.dtypes == typed.dtypes
    assert multiset(released) == multiset(data)


def test_as_double_publishes_the_mean_itself(spark: Any, tmp_path: Path) -> None:
    rows = [(i, BIG + i, Decimal(i), i % 2 == 0) for i in (0, 1, 3, 100, 101, 104)]
    data = spark.createDataFrame(rows, "a int, b bigint, c decimal(5,1), d boolean")
    columns = {name: {"role": QUASI, "as": "double"} for name in "abcd"}
    released = sparkanon.anonymize(data, policy(tmp_path, columns), spark=spark).data
    assert {kind for _, kind in released.dtypes} == {"double"}
    for name in "ac":
        assert sorted(cells(released, name)) == pytest.approx([4 / 3, 305 / 3])
    assert sorted(cells(released, "d")) == pytest.approx([1 / 3, 2 / 3])
    assert set(cells(released, "b")) == {float(BIG)}


def test_widest_range_of_whole_numbers(spark: Any, tmp_path: Path) -> None:
    low, high = -(2**63), 2**63 - 1
    data = spark.createDataFrame([(low,)] * 3 + [(high,)] * 3, "a bigint")
    released = sparkanon.anonymize(data, policy(tmp_path, {"a": QUASI}), spark=spark).data
    assert cells(released, "a")[low] == 3
    assert max(cells(released, "a")) > high - 2000


def test_other_columns_travel_untouched(spark: Any, tmp_path: Path) -> None:
    data = spark.sql(
        """SELECT cast(id AS int) AS age, array(id, null) AS list, map('k', id) AS pairs,
        named_struct('x', id, 'y', array('z')) AS inner, cast(cast(id AS string) AS binary) AS raw,
        if(id % 2 = 0, null, id) AS holes, cast('NaN' AS double) AS nan, interval '1' day AS gap,
        parse_json('{"v": 1}') AS variant, id AS sure
        FROM range(7) ORDER BY id"""
    )
    assert not data.schema["sure"].nullable
    columns = {"age": QUASI}
    chosen = policy(
        tmp_path,
        columns,
        unlisted="keep",
        output={"format": "parquet", "path": str(tmp_path / "out")},
    )
    released = sparkanon.anonymize(data, chosen, spark=spark).data
    assert released.dtypes == data.dtypes
    assert multiset(released.drop("age", "variant")) == multiset(data.drop("age", "variant"))
    text = [row[0] for row in released.selectExpr("to_json(variant)").collect()]
    assert text == ['{"v":1}'] * 7


# --- nulls


def test_null_policies(spark: Any, tmp_path: Path) -> None:
    nan = float("nan")
    rows = [(1.0, "a"), (2.0, "a"), (3.0, "a"), (nan, "b"), (None, "b"), (None, "b")]
    rows += [(90.0, "c"), (90.5, "c"), (91.0, "c"), (92.0, "c"), (94.0, None)]
    data = spark.createDataFrame(rows, "x double, c string")
    base = policy(
        tmp_path,
        {"x": QUASI, "c": {"role": QUASI, "type": "nominal"}},
        method={"space": "gower"},
    )

    def run(nulls: str) -> Any:
        return sparkanon.anonymize(data, base | {"nulls": nulls}, spark=spark)

    own = run("own_category").data
    assert cells(own) == {(2.0, "a"): 3, (None, "b"): 3, (91.5, "c"): 5}
    # the lower median of 1 2 3 90 90.5 91 92 94 is 90, the most frequent category c
    assert cells(run("impute").data) == {(2.0, "a"): 3, (90.0, "b"): 3, (91.5, "c"): 5}
    dropped = run("drop_row")
    assert cells(dropped.data) == {(2.0, "a"): 3, (90.875, "c"): 4}
    assert (dropped.manifest["rows_in"], dropped.manifest["rows_out"]) == (11, 7)
    with pytest.raises(sparkanon.InputError) as refused:
        run("reject")
    assert str(refused.value).splitlines() == [
        "columns.x: 3 cells are null or NaN, and the policy says nulls: reject",
        "columns.c: 1 cell is null or NaN, and the policy says nulls: reject",
    ]


def test_impute_fills_every_type_with_one_of_its_values(
    typed: Any, spark: Any, tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    empty = spark.createDataFrame([tuple([None] * len(TYPED))] * 3, typed.schema)
    # the lower half three times: the median of each column is the lower group's own centre
    data = typed.limit(3).union(typed.limit(3)).union(empty)
    chosen = policy(tmp_path, typed_columns(), nulls="impute", method={"release": "permute"})
    released = sparkanon.anonymize(data, chosen, spark=spark).data
    for name, (kind, values, _) in TYPED.items():
        order = ORDERS.get(name)
        middle = sorted(values[:3], key=order.index if order else None)[1]
        expected = Counter(values[:3] * 2 + [middle] * 3)
        assert instants(cells(released, name), kind) == instants(expected, kind), name


# --- methods


@pytest.fixture(scope="module")
def mixed(spark: Any) -> Any:
    rows = [
        (i, (37 * i) % 101, 0.1 * ((53 * i) % 97), "abc"[i % 3], f"s{i}", Decimal(i))
        for i in range(60)
    ]
    return spark.createDataFrame(
        rows, "id int, a int, b float, c string, s string, d decimal(9,3)"
    )


@pytest.mark.parametrize(
    ("space", "grouping", "release"),
    list(product(("euclidean", "gower"), ("mdav", "refined"), ("centroid", "permute"))),
)
def test_every_combination(
    mixed: Any, spark: Any, tmp_path: Path, space: str, grouping: str, release: str
) -> None:
    columns: dict[str, Any] = {"id": "identifier", "s": "sensitive"} | dict.fromkeys("abd", QUASI)
    columns["c"] = {"role": QUASI, "type": "nominal"} if space == "gower" else "keep"
    chosen = policy(
        tmp_path,
        columns,
        k=4,
        method={"space": space, "grouping": grouping, "release": release},
        output={"format": "csv", "path": str(tmp_path / "out")},
    )
    made = sparkanon.anonymize(mixed, chosen, spark=spark)
    quasi = [name for name in "abdc" if name != "c" or space == "gower"]
    assert made.data.columns == ["a", "b", "c", "s", "d"]
    assert made.data.dtypes == mixed.drop("id").dtypes
    assert cells(made.data, "s") == cells(mixed, "s")
    classes = cells(made.data, *quasi)
    assert sum(classes.values()) == 60
    if release == "centroid":
        assert min(classes.values()) == made.manifest["min_class_size"] >= 4
    else:
        # pairs in the order of the policy: whole pairs change places, and none stays with another
        pairs = [quasi[:2], quasi[2:]]
        for pair in pairs:
            assert cells(made.data, *pair) == cells(mixed, *pair)
            assert cells(made.data, "s", *pair) != cells(mixed, "s", *pair)
        assert classes != cells(mixed, *quasi)
        assert made.manifest["min_class_size"] >= 4
    total = {m.measure: m.value for m in made.measures if m.column is None}
    assert 0 < total["il"] < 100
    assert total["il"] == pytest.approx(100 * total["sse"] / total["sst"])
    assert only(tmp_path) == ["out", "runs"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_permute_moves_cells_and_publishes_nothing_private(
    mixed: Any, spark: Any, tmp_path: Path, form: str
) -> None:
    columns = {"id": "identifier", "s": "sensitive"} | dict.fromkeys("abd", QUASI) | {"c": "keep"}
    chosen = policy(
        tmp_path,
        columns,
        k=5,
        method={"release": {"name": "permute", "blocks": [["a", "b"], ["d"]]}},
        output={"format": form, "path": str(tmp_path / "out"), "partition_by": ["c"]},
    )
    made = sparkanon.anonymize(mixed, chosen, spark=spark)
    assert cells(made.data, "a", "b") == cells(mixed, "a", "b")
    assert cells(made.data, "d") == cells(mixed, "d")
    assert cells(made.data, "c", "s") == cells(mixed, "c", "s")
    assert cells(made.data, "a", "d") != cells(mixed, "a", "d")
    reader = spark.read.option("header", True).format(form)
    assert sorted(reader.load(str(tmp_path / "out")).columns) == ["a", "b", "c", "d", "s"]
    kept = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(b"__sparkanon" in path.read_bytes() for path in kept)


def test_a_header_is_found_in_folders_of_partitions(spark: Any, tmp_path: Path) -> None:
    for year in (2024, 2025):
        (tmp_path / f"in/year={year}").mkdir(parents=True)
        rows = "\n".join(["Age,pay", *(f"{i},{year + i}" for i in range(6))])
        (tmp_path / f"in/year={year}/part.csv").write_text(rows + "\n")
    for types in (None, "age INT, year INT, pay INT"):
        source = Source(format="csv", path=str(tmp_path / "in"), types=types)
        found = read(spark, source).data
        assert {name.lower() for name in found.columns} == {"age", "pay", "year"}
        assert found.count() == 12
