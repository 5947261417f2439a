"""Bad policies and bad tables: refused at once, without a cell in the message, nothing written."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import sparkanon
from sparkanon import GateError, InputError, PolicyError
from sparkanon.errors import SparkanonError

QUASI = "quasi_identifier"
SECRET = "Zanzibar"  # stands in cells only, so no message may hold it
SECRET_NUMBER = 987_654


def base(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "columns": {"age": QUASI, "pay": QUASI, "name": "identifier", "town": "keep"},
        "k": 2,
        "output": {"format": "parquet", "path": str(tmp_path / "deep" / "out")},
        "runs": str(tmp_path / "runs"),
    } | more


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    rows = [(20 + i, SECRET_NUMBER + i / 3, f"{SECRET}{i}", f"{SECRET} {i}") for i in range(6)]
    return spark.createDataFrame(rows, "age int, pay double, name string, town string")


def picture(folder: Path) -> dict[str, str]:
    """Every file below, byte for byte."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def refusal(
    tmp_path: Path, spark: Any, df: Any, policy: dict[str, Any], kind: type[SparkanonError]
) -> str:
    """The message of a refusal that wrote nothing and showed no cell."""
    before = picture(tmp_path)
    with pytest.raises(kind) as caught:
        sparkanon.anonymize(df, policy, spark=spark)
    assert caught.value.exit_code == (3 if kind is GateError else 2)
    assert picture(tmp_path) == before
    text = str(caught.value)
    assert SECRET not in text
    assert str(SECRET_NUMBER) not in text
    assert caught.value.__cause__ is None  # nothing a traceback would print
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return text


# --- the policy against the table


def test_missing_and_unlisted_columns_all_at_once(people: Any, spark: Any, tmp_path: Path) -> None:
    columns = {"agee": QUASI, "pay": {"role": QUASI, "type": "date"}, "name": "identifier"}
    policy = base(tmp_path, columns=columns)
    policy["output"]["partition_by"] = ["name2"]
    assert "output.partition_by: 'name2' is not in the release" in refusal(
        tmp_path, spark, people, policy, PolicyError
    )
    del policy["output"]["partition_by"]
    lines = refusal(tmp_path, spark, people, policy, InputError).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("columns.agee: the table has no such column; did you mean age")
    assert lines[1].startswith("columns.age: is in the table but not in the policy")
    assert lines[2].startswith("columns.town: is in the table but not in the policy")
    assert lines[3].startswith("columns.pay: is declared date but the table holds double")


def test_unknown_methods_name_the_nearest(people: Any, spark: Any, tmp_path: Path) -> None:
    policy = base(tmp_path, method={"grouping": "refind", "space": "euclid"}, k=1)
    text = refusal(tmp_path, spark, people, policy, PolicyError)
    assert "did you mean refined?" in text
    assert "did you mean euclidean?" in text
    assert "k: " in text


def test_k_above_rows_and_empty_table(people: Any, spark: Any, tmp_path: Path) -> None:
    text = refusal(tmp_path, spark, people, base(tmp_path, k=7), InputError)
    assert text == "k: is 7, more than the 6 rows"
    text = refusal(tmp_path, spark, people.limit(0), base(tmp_path), InputError)
    assert text == "input: the table is empty"


def test_nulls_nan_and_infinities(spark: Any, tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    rows = [(None, nan, 1.0), (None, 2.0, inf), (None, None, -inf), (None, 4.0, 5.0)]
    data = spark.createDataFrame(rows, "a int, b double, c float")
    policy = base(tmp_path, columns=dict.fromkeys("abc", QUASI))
    nothing = "columns.a: every cell is null (or NaN); keep or drop the column"
    infinite = "columns.c: 2 cells are infinite; clean the column or say nulls: drop_row"
    for nulls in ("own_category", "impute"):
        text = refusal(tmp_path, spark, data, policy | {"nulls": nulls}, InputError)
        assert text.splitlines() == [nothing, infinite]
    text = refusal(tmp_path, spark, data, policy | {"nulls": "reject"}, InputError)
    rejected = "columns.b: 2 cells are null or NaN, and the policy says nulls: reject"
    assert text.splitlines() == [nothing, rejected, infinite]
    policy |= {"nulls": "drop_row", "columns": {"a": "keep", "b": QUASI, "c": QUASI}}
    text = refusal(tmp_path, spark, data, policy, InputError)
    assert text == "k: is 2, more than the 1 row after 3 rows with nulls were dropped"


def test_types_that_do_not_fit(people: Any, spark: Any, tmp_path: Path) -> None:
    data = people.selectExpr(
        "age", "name", "town", "array(pay) AS pay", "interval 1 year AS since", "pay AS grade"
    )
    columns = {
        "age": {"role": QUASI, "type": "ordinal", "order": [20, 21]},
        "name": QUASI,
        "town": {"role": QUASI, "type": "numeric"},
        "pay": QUASI,
        "since": "keep",
        "grade": {"role": QUASI, "type": "ordinal", "order": [1, 2]},
    }
    text = refusal(tmp_path, spark, data, base(tmp_path, columns=columns), InputError)
    found = dict(line.split(": ", 1) for line in text.splitlines())
    assert "choose space: gower" in found["columns.name"]  # text where a number is needed
    assert "is declared numeric but the table holds string" in found["columns.town"]
    assert found["columns.pay"] == "a column of type array<double> cannot be a quasi-identifier"
    assert "cannot travel" in found["columns.since"]
    assert "text and whole numbers" in found["columns.grade.order"]
    columns = {"age": columns["age"]}
    policy = base(tmp_path, columns=columns, unlisted="drop")
    text = refusal(tmp_path, spark, data, policy, InputError)
    assert text == "columns.age.order: 4 cells hold a value not listed"


def test_what_the_output_cannot_hold(people: Any, spark: Any, tmp_path: Path) -> None:
    data = people.selectExpr("age", "array(pay) AS pay", "name", "null AS town")
    policy = base(tmp_path)
    policy["columns"] |= {"pay": "keep"}
    policy["output"] |= {"format": "csv", "partition_by": ["pay"]}
    text = refusal(tmp_path, spark, data, policy, InputError)
    assert text.splitlines() == [
        "columns.pay: csv cannot hold type array<double>",
        "columns.town: csv cannot hold type void",
        "output.partition_by: 'pay' is of a type that makes no folder names",
    ]


def test_names_that_differ_in_case_only(spark: Any, tmp_path: Path) -> None:
    data = spark.range(4).selectExpr("id AS Age", "id AS age")
    policy = base(tmp_path, columns={"Age": QUASI, "age": QUASI})
    text = refusal(tmp_path, spark, data, policy, InputError)
    assert text.splitlines() == [
        "columns.Age: the table has this name twice (case aside)",
        "columns.age: the table has this name twice (case aside)",
    ]


# --- tables that cannot be read


@pytest.fixture
def broken(people: Any, tmp_path: Path) -> Path:
    """A folder of Parquet with one damaged file, and other things that are no table."""
    people.repartition(2).write.parquet(str(tmp_path / "half"))
    damaged = sorted((tmp_path / "half").glob("part-*"))[-1]
    damaged.write_bytes(b"PAR1" + SECRET.encode() * 20 + b"PAR1")
    (tmp_path / "half" / f".{damaged.name}.crc").unlink()
    (tmp_path / "junk.parquet").write_text(SECRET * 9)
    (tmp_path / "nothing").mkdir()
    (tmp_path / "only_header.csv").write_text("age,pay,name,town\n")
    (tmp_path / "zero.csv").write_text("")
    (tmp_path / "ragged.csv").write_text(f"age,pay,name,town\n1,2\n3,4,{SECRET},x,y,z\n")
    (tmp_path / "twice.csv").write_text("age,Age,name,town\n1,2,a,b\n3,4,a,b\n")
    rows = f"20,{SECRET},a,b\n21,2,a,b\n22,3,a,b\n"
    (tmp_path / "text.csv").write_text("age,pay,name,town\n" + rows)
    return tmp_path


TYPES = "age INT, pay DOUBLE, name STRING, town STRING"
SWAPPED = "age INT, pay STRING, town STRING, name STRING"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"format": "parquet", "path": "missing"}, "does not exist"),
        ({"format": "csv", "path": "missing.csv"}, "does not exist"),
        ({"format": "delta", "path": "missing"}, "does not exist or is no Delta table"),
        ({"format": "table", "name": "no_such_table"}, "is not in the catalog"),
        ({"format": "table", "name": "`no such; table`"}, "is not in the catalog"),
        ({"format": "parquet", "path": "junk.parquet"}, "a file is damaged or malformed"),
        ({"format": "parquet", "path": "half"}, "a file is damaged or malformed"),
        ({"format": "parquet", "path": "text.csv"}, "a file is damaged or malformed"),
        ({"format": "parquet", "path": "nothing"}, "holds no parquet data"),
        ({"format": "csv", "path": "nothing"}, "holds no csv data"),
        ({"format": "delta", "path": "nothing"}, "is no Delta table"),
        ({"format": "delta", "path": "half"}, "is no Delta table"),
        ({"format": "csv", "path": "only_header.csv"}, "the table is empty"),
        ({"format": "csv", "path": "zero.csv"}, "the table is empty"),
        ({"format": "csv", "path": "ragged.csv"}, "2 of 2 rows"),
        ({"format": "csv", "path": "text.csv", "types": TYPES}, "1 of 3 rows"),
        ({"format": "csv", "path": "text.csv", "types": SWAPPED}, "the header does not name"),
        ({"format": "csv", "path": "twice.csv"}, "the header does not name"),
        ({"format": "csv", "path": "text.csv", "types": "age INTT"}, "input.types: is not a list"),
        ({"format": "csv", "path": "text.csv"}, "columns.pay: is nominal, which space"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value.values()),
)
def test_unreadable_tables(broken: Path, spark: Any, source: dict[str, str], message: str) -> None:
    if "path" in source:
        source = source | {"path": str(broken / source["path"])}
    text = refusal(broken, spark, None, base(broken, input=source), InputError)
    assert message in text
    assert text.startswith(("input", "columns.pay"))


# --- outputs


def test_output_must_not_touch_the_input(people: Any, spark: Any, tmp_path: Path) -> None:
    people.write.parquet(str(tmp_path / "in"))
    (tmp_path / "link").symlink_to(tmp_path / "in")
    source = {"format": "parquet", "path": str(tmp_path / "in")}
    for path in ("in", "in/../in/", "link", "in/below"):
        sink = {"format": "parquet", "path": f"{tmp_path}/{path}"}
        policy = base(tmp_path, input=source, output=sink)
        assert "is the input" in refusal(tmp_path, spark, None, policy, PolicyError)
    for name in ("PEOPLE", "`people`"):
        tables = {"format": "table", "name": "people"}, {"format": "table", "name": name}
        policy = base(tmp_path, input=tables[0], output=tables[1])
        assert "is the input table" in refusal(tmp_path, spark, None, policy, PolicyError)


@pytest.mark.parametrize("form", ["parquet", "csv", "delta"])
@pytest.mark.parametrize("staging", [None, "private"])
def test_only_a_release_is_replaced(
    people: Any, spark: Any, tmp_path: Path, form: str, staging: str | None
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "thesis.txt").write_text("the only copy")
    sink = {"format": form, "path": str(taken)}
    sink |= {"staging": str(tmp_path / staging)} if staging else {}
    text = refusal(tmp_path, spark, people, base(tmp_path, output=sink), InputError)
    assert "taken exists and is no release of sparkanon" in text


def test_a_delta_table_of_others_is_not_replaced(people: Any, spark: Any, tmp_path: Path) -> None:
    people.write.format("delta").save(str(tmp_path / "theirs"))
    sink = {"format": "delta", "path": str(tmp_path / "theirs")}
    text = refusal(tmp_path, spark, people, base(tmp_path, output=sink), InputError)
    assert "is no release of sparkanon" in text


def test_a_file_in_the_way_and_stores_that_cannot_rename(
    people: Any, spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for path, message in (
        (f"{tmp_path}/file", "is no release"),
        (f"{tmp_path}/file/out", "cannot write in"),
        ("nosuch://bucket/out", "Spark knows no such store"),
        ("s3a://bucket/out", "cannot be replaced in one step"),
    ):
        policy = base(tmp_path, output={"format": "parquet", "path": path})
        kind = PolicyError if path.startswith("s3a") else InputError
        assert message in refusal(tmp_path, spark, people, policy, kind)


def test_staging_elsewhere(people: Any, spark: Any, tmp_path: Path) -> None:
    sink = {"format": "parquet", "path": f"{tmp_path}/a/b/out", "staging": f"{tmp_path}/private"}
    policy = base(tmp_path, output=sink)
    for _ in range(2):  # the second replaces the first
        release = sparkanon.anonymize(people, policy, spark=spark)
    assert release.data.count() == 6
    assert not list((tmp_path / "private").iterdir())
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["out"]


# --- gates


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_a_failing_gate_leaves_the_old_release(
    people: Any, spark: Any, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "out"
    policy = base(tmp_path, output={"format": form, "path": str(out)})
    sparkanon.anonymize(people, policy, spark=spark)
    before = picture(out)
    policy |= {"gates": {"max_il": 0.001, "min_k": 100, "max_sse": 1e9}}
    with pytest.raises(GateError) as refused:
        sparkanon.anonymize(people, policy, spark=spark)
    assert refused.value.exit_code == 3
    lines = str(refused.value).splitlines()
    assert [line.split(":")[0] for line in lines] == ["gates.min_k", "gates.max_il"]
    assert all("nothing was published" in line for line in lines)
    release = refused.value.release
    assert release.status == "refused"
    assert {gate.gate: gate.passed for gate in release.gates} == {
        "min_k": False,
        "max_il": False,
        "max_sse": True,
    }
    assert picture(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "runs"]
