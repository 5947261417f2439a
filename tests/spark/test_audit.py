"""The audit from the outside: own and foreign releases, bad pairs, gates, and what it shows."""

from __future__ import annotations

import datetime
import json
import math
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Command
from pyspark.sql import functions as F
from test_cli import run

import sparkanon
from sparkanon import GateError, InputError, PolicyError
from sparkanon.attacks.nearest_record import NearestRecord
from sparkanon.catalogue import CATALOGUE, of_attack
from sparkanon.engine.audit import audit
from sparkanon.engine.audit.run import FailedAuditError
from sparkanon.report import write_report

ATTRIBUTES = [key for key, about in CATALOGUE.items() if about.family == "attribute"]
LINKAGE = [about.key for about in of_attack(NearestRecord)]
CLASSES = ["min_class_size", "below_k"]
QUASI = "quasi_identifier"
SECRET = "Zanzibar"  # stands in cells only, so nothing that is shown may hold it
SECRET_NUMBER = 987_654
ROWS = 60
WORDS = ("flu", "cold", SECRET)


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    rows = [
        (i, 20 + i * 7 % 50, SECRET_NUMBER + i * i % 97 / 8, WORDS[i * 5 % 11 % 3])
        for i in range(ROWS)
    ]
    made = spark.createDataFrame(rows, "id int, age int, pay double, ill string")
    return made.coalesce(2).cache()


def policy(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "columns": {"id": "identifier", "age": QUASI, "pay": QUASI, "ill": "sensitive"},
        "k": 3,
        "runs": str(folder / "runs"),
    } | more


@pytest.fixture
def own(people: Any, tmp_path: Path) -> dict[str, Any]:
    """A policy with input, output and a private place; nothing is published yet."""
    people.write.parquet(str(tmp_path / "in"))
    return policy(
        tmp_path,
        input={"format": "parquet", "path": str(tmp_path / "in")},
        output={"format": "parquet", "path": str(tmp_path / "out")},
        private={"path": str(tmp_path / "private" / "pairs")},
    )


def values(done: Any) -> dict[str, float | None]:
    return {m.measure: m.value for m in done.measures if m.column is None}


def showed_no_cell(*texts: str) -> None:
    for text in texts:
        assert SECRET not in text
        assert str(SECRET_NUMBER) not in text


def refusal(run: Callable[[], Any], kind: type[Exception] = InputError) -> str:
    with pytest.raises(kind) as caught:
        run()
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    showed_no_cell(str(caught.value))
    return str(caught.value)


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


# --- the policy's own pair


def test_with_the_pairing_everything_is_measured(own: dict[str, Any], spark: Any) -> None:
    release = sparkanon.anonymize(None, own, spark=spark)
    done = audit(None, None, own, spark=spark)
    assert done.status == "ok"
    assert done.left_out == {}
    assert {m.measure for m in done.measures} == CATALOGUE.keys()
    found = values(done)
    assert found["min_class_size"] == release.manifest["min_class_size"]
    assert found["il"] == pytest.approx(values(release)["il"])
    assert found["linkage_baseline"] == pytest.approx(1 / ROWS)
    classes = release.manifest["class_sizes"]["classes"]
    assert 0 < found["linkage_masked_to_original"] <= classes / ROWS + 1e-9


def test_without_the_pairing_what_is_left_out_is_named(own: dict[str, Any], spark: Any) -> None:
    release = sparkanon.anonymize(None, own, spark=spark)
    done = audit(None, None, {**own, "private": None}, spark=spark)
    paired = {"sse", "sst", "il1s", "il1s_mean", "il_metrics", "mse", "interval_sd"}
    paired |= {"interval_rank", "il_dr_score", *LINKAGE}
    assert done.left_out.keys() == paired
    assert all("give a key" in why for why in done.left_out.values())
    assert {m.measure for m in done.measures} == CATALOGUE.keys() - paired
    reported = [row["measure"] for row in done.report.to_dict()["left_out"]]
    assert reported == sorted(paired)
    assert values(done)["min_class_size"] == release.manifest["min_class_size"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "delta"])
def test_the_pairing_fits_a_release_of_any_format(
    own: dict[str, Any], spark: Any, tmp_path: Path, form: str
) -> None:
    own["output"] = {"format": form, "path": str(tmp_path / "out")}
    own["columns"] |= {"pay": {"role": QUASI, "as": "double"}} if form == "csv" else {}
    sparkanon.anonymize(None, own, spark=spark)
    assert audit(None, None, own, spark=spark).left_out == {}


def test_the_private_folder_is_its_owners_and_is_replaced(
    own: dict[str, Any], spark: Any, tmp_path: Path
) -> None:
    for _ in range(2):
        sparkanon.anonymize(None, own, spark=spark)
        folder = Path(own["private"]["path"])
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert [path.name for path in folder.parent.iterdir()] == ["pairs"]
        assert spark.read.parquet(str(folder)).count() == ROWS
    sparkanon.anonymize(None, own, dry_run=True, spark=spark)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "private", "runs"]


@pytest.mark.parametrize("place", ["out", "out/pairs", "in/pairs", "."])
def test_the_private_folder_is_never_in_a_table(
    own: dict[str, Any], spark: Any, tmp_path: Path, place: str
) -> None:
    own["private"] = {"path": str(tmp_path / place)}
    text = refusal(lambda: sparkanon.anonymize(None, own, spark=spark), PolicyError)
    assert "private.path: is the" in text


@pytest.mark.slow
def test_nothing_but_a_pairing_is_replaced(own: dict[str, Any], spark: Any) -> None:
    folder = Path(own["private"]["path"])
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("the only copy")
    text = refusal(lambda: sparkanon.anonymize(None, own, spark=spark))
    assert "exists and is no pairing of sparkanon" in text
    assert files(folder) == {"thesis.txt": b"the only copy"}
    own["private"] = {"path": "s3://bucket/pairs"}
    assert "private.path" in refusal(lambda: sparkanon.anonymize(None, own, spark=spark))
    assert not Path(own["output"]["path"]).exists()


def test_the_pairing_of_another_release_is_refused(
    own: dict[str, Any], spark: Any, tmp_path: Path
) -> None:
    """Also where all classes are of even size, so that equal rows could cancel out."""
    own |= {"k": 2, "method": {"grouping": "mdav"}}
    sparkanon.anonymize(None, own, spark=spark)
    other = own | {"private": {"path": str(tmp_path / "others")}}
    other["method"] = {"grouping": "mdav", "space": {"name": "euclidean", "weights": {"age": 9}}}
    again = sparkanon.anonymize(None, other, spark=spark)
    assert {bucket["low"] for bucket in again.manifest["class_sizes"]["histogram"]} == {2}
    assert "another release" in refusal(lambda: audit(None, None, own, spark=spark))
    assert audit(None, None, other, spark=spark).status == "ok"


@pytest.mark.slow
def test_the_pairing_of_another_original_is_refused(
    own: dict[str, Any], spark: Any, people: Any
) -> None:
    sparkanon.anonymize(None, own, spark=spark)
    moved = people.withColumn("age", F.expr("age + if(id = 7, 1, 0)"))
    assert "another original" in refusal(lambda: audit(moved, None, own, spark=spark))


@pytest.mark.slow
def test_a_release_of_another_policy_is_refused(own: dict[str, Any], spark: Any) -> None:
    sparkanon.anonymize(None, own, spark=spark)
    own["columns"] = own["columns"] | {"ill": "identifier"}
    assert "has other columns" in refusal(lambda: audit(None, None, own, spark=spark))


@pytest.mark.slow
@pytest.mark.parametrize("nulls", ["own_category", "impute", "drop_row"])
def test_nulls_mean_the_same_to_anonymizer_and_auditor(
    own: dict[str, Any], spark: Any, people: Any, nulls: str
) -> None:
    data = people.withColumn("age", F.expr("if(id % 9 = 4, null, age)"))
    release = sparkanon.anonymize(data, own | {"nulls": nulls}, spark=spark)
    done = audit(data, None, own | {"nulls": nulls}, spark=spark)
    assert done.left_out == {}
    assert values(done)["il"] == pytest.approx(values(release)["il"])
    assert done.report.rows_out == release.manifest["rows_out"]


@pytest.mark.slow
def test_permuted_releases_have_groups(own: dict[str, Any], spark: Any) -> None:
    own |= {"method": {"release": "permute"}, "audit": {"take": "all"}}
    release = sparkanon.anonymize(None, own, spark=spark)
    assert release.status == "published"
    done = audit(None, None, own, spark=spark)
    assert done.left_out.keys() == set(ATTRIBUTES)
    assert all("groups, not classes" in why for why in done.left_out.values())
    for found in (values(release), values(done)):
        assert found["min_class_size"] == release.manifest["min_class_size"] >= 3
        assert found["il"] > 0
    assert values(done)["uniqueness"] > 0.5  # rows differ, although groups hide them


def test_permuted_releases_do_not_tell_their_groups(own: dict[str, Any], spark: Any) -> None:
    """k of the rows is 1, the loss of the columns 0: neither is true, so k fails closed."""
    own |= {"method": {"release": "permute"}}
    sparkanon.anonymize(None, own, spark=spark)
    with pytest.raises(FailedAuditError) as failed:
        audit(None, None, own | {"private": None}, spark=spark)
    done = failed.value.audit
    assert {*CLASSES, *ATTRIBUTES, "il"} <= done.left_out.keys()
    gates = [("min_k", None), ("max_identifiers", 0.0)]
    assert [(gate.gate, gate.value) for gate in done.gates] == gates


# --- releases of other tools


@pytest.fixture(scope="module")
def original(spark: Any) -> Any:
    day = datetime.date(2020, 1, 1)
    rows = [
        (
            i,
            20 + i % 40,
            f"{12300 + i % 40}",
            "abcd"[i % 4],
            day + datetime.timedelta(i % 40),
            7 * i,
        )
        for i in range(80)
    ]
    made = spark.createDataFrame(rows, "id int, age int, zip string, job string, day date, s int")
    return made.coalesce(2).cache()


def mixed(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "columns": {
            "id": "identifier",
            "age": QUASI,
            "zip": QUASI,
            "job": QUASI,
            "day": QUASI,
            "s": "sensitive",
        },
        "k": 2,
        "method": {"space": "gower"},
        "runs": str(folder / "runs"),
    } | more


GENERALIZED = (
    "id",
    "concat('[', age - age % 10, '-', age - age % 10 + 10, ')') as age",
    "concat(substr(zip, 1, 3), '**') as zip",
    "if(job in ('a', 'b'), '{a,b}', '*') as job",
    "if(month(day) = 1, '2020-01', null) as day",
    "s",
)


@pytest.mark.slow
def test_a_generalized_release_is_measured(original: Any, tmp_path: Path) -> None:
    released = original.selectExpr(*GENERALIZED)
    done = audit(original, released, mixed(tmp_path), key="id")
    assert done.left_out == {}
    found = values(done)
    sizes = released.groupBy("age", "zip", "job", "day").count().agg(F.min("count")).first()[0]
    assert found["min_class_size"] == sizes
    lost = {m.column: m.value for m in done.measures if m.measure == "il" and m.column}
    # [20-30) stands for 25: ages are off by -5..4 around it, and sd^2 is that of 0..39
    assert lost["age"] == pytest.approx(100 * (8.25 + 0.5**2) / (1599 / 12), rel=1e-9)
    assert lost["job"] == pytest.approx(100 * 2 / 0.75)  # no category is as it was


@pytest.mark.slow
def test_order_of_rows_and_columns_and_types_do_not_matter(
    original: Any, spark: Any, tmp_path: Path
) -> None:
    """A copy links perfectly, whatever became of its types."""
    copy = original.selectExpr(
        "'x' as extra", "s", "cast(day as string) as day", "job", "zip", "double(age) as age", "id"
    ).orderBy(F.expr("id * 37 % 80"))
    taken = ["il", "linkage_masked_to_original", "interval_sd", "l_distinct"]
    rules = mixed(tmp_path, audit={"take": taken})
    with pytest.raises(FailedAuditError) as failed:  # k is 1
        audit(original.withColumn("age", F.col("id").cast("int")), copy.withColumn(
            "age", F.expr("double(id)")), rules, key="id")  # fmt: skip
    found = values(failed.value.audit)
    assert found["il"] == 0
    assert found["linkage_masked_to_original"] == 1
    assert found["interval_sd"] == 1
    assert found["min_class_size"] == 1
    assert found["l_distinct"] == 1


@pytest.mark.slow
def test_a_missing_column_is_left_out_and_named(original: Any, tmp_path: Path) -> None:
    released = original.selectExpr(*GENERALIZED).drop("zip", "s")
    done = audit(original, released, mixed(tmp_path), key="id")
    assert done.left_out["column zip"] == "it is not in the release"
    assert done.left_out.keys() == {"column zip", *ATTRIBUTES}
    assert all("no sensitive column" in done.left_out[name] for name in ATTRIBUTES)
    assert "zip" not in {m.column for m in done.measures}


@pytest.mark.slow
def test_without_a_key_the_rest_is_measured(original: Any, tmp_path: Path) -> None:
    done = audit(original, original.selectExpr(*GENERALIZED[1:]), mixed(tmp_path))
    assert {"entropy", "correlation_error", "l_distinct", "uniqueness"} <= values(done).keys()
    assert set(LINKAGE) <= done.left_out.keys()


@pytest.mark.slow
def test_suppressed_rows_have_to_be_declared_and_count_as_lost(
    original: Any, tmp_path: Path
) -> None:
    released = original.filter("id % 4 > 0")
    for key in ("id", None):
        text = refusal(lambda key=key: audit(original, released, mixed(tmp_path), key=key))
        assert "the original has 80 rows and the release 60" in text
    rules = mixed(tmp_path, k=2, audit={"suppression": True})
    columns = ["id", "age", "zip", "job", "day", "s"]
    twice = original.unionByName(original.withColumn("id", F.expr("id + 100"))).select(*columns)
    done = audit(twice, twice.filter("id % 4 > 0"), rules, key="id")
    assert values(done)["il"] == pytest.approx(25)  # a quarter is not there, the rest is a copy
    assert done.report.rows_out == 120


@pytest.mark.slow
def test_only_nominal_columns(original: Any, tmp_path: Path) -> None:
    columns = {"job": QUASI, "s": "sensitive", "id": "identifier"}
    rules = mixed(tmp_path, columns=columns, unlisted="drop")
    done = audit(original, original.selectExpr("id", "'{a,b,c,d}' as job", "s"), rules, key="id")
    assert "numeric or ordinal" in done.left_out["il_metrics"]
    assert values(done)["min_class_size"] == 80
    assert values(done)["linkage_masked_to_original"] == pytest.approx(1 / 80)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["id", None])
def test_constant_columns_make_no_nan(original: Any, tmp_path: Path, key: str | None) -> None:
    flat = original.selectExpr("id", "7 as age", "'1' as zip", "'a' as job", "day", "s")
    flat = flat.withColumn("day", F.expr("date'2020-02-02'"))
    released = flat if key else flat.drop("id")
    done = audit(flat, released, mixed(tmp_path), key=key)
    assert all(m.value is None or math.isfinite(m.value) for m in done.measures)
    done.report.to_json()
    assert values(done)["min_class_size"] == 80
    assert values(done).get("il", 0) == 0
    if key:
        moved = flat.withColumn("age", F.lit(8))
        audit(flat, moved, mixed(tmp_path), key=key).report.to_json()


# --- pairs that cannot be


BAD_PAIRS: dict[str, tuple[str, str, str]] = {
    "key missing in the original": ("* except (id)", "*", "the original has no column 'id'"),
    "key missing in the release": ("*", "* except (id)", "the release has no column 'id'"),
    "duplicated in the original": (
        "* except (id), id % 70 as id",
        "*",
        "10 rows of the original have no key of their own",
    ),
    "duplicated in the release": (
        "*",
        "* except (id), id % 79 as id",
        "1 row of the release has no key of its own",
    ),
    "not matching": (
        "*",
        "* except (id), id + 5 as id",
        "5 rows of the release have a key that the original does not have",
    ),
    "null keys": (
        "*",
        "* except (id), if(id > 77, null, id) as id",
        "2 rows of the release have no key of their own",
    ),
    "key of another type": (
        "*",
        "* except (id), cast(id as string) as id",
        "is int in the original and string in the release",
    ),
    "another type": (
        "*",
        "* except (day), age as day",
        "columns.day: is int in the release, which cannot be compared with date",
    ),
    "cells that are no numbers": (
        "*",
        f"* except (age), if(age < 30, '{SECRET}', string(age)) as age",
        "columns.age: 20 cells of the release are no value, range or set",
    ),
    "none of the columns": (
        "*",
        "id, s",
        "no quasi-identifier of the policy is in the release",
    ),
}


@pytest.mark.parametrize(
    ("x", "z", "message"), BAD_PAIRS.values(), ids=[name.replace(" ", "-") for name in BAD_PAIRS]
)
def test_bad_pairs(original: Any, tmp_path: Path, x: str, z: str, message: str) -> None:
    pair = (original.selectExpr(*_parts(side)) for side in (x, z))
    rules = mixed(tmp_path, unlisted="drop")
    rules["columns"] = {n: r for n, r in rules["columns"].items() if n != "id"}
    assert message in refusal(lambda: audit(*pair, rules, key="id"))
    assert not (tmp_path / "runs").exists()


def _parts(side: str) -> list[str]:
    """`* except (a), f as a` keeps its comma inside brackets."""
    star, _, rest = side.partition("), ")
    return [f"{star})", rest] if rest else side.split(", ") if "*" not in side else [side]


def test_empty_tables_and_too_many_rows(original: Any, tmp_path: Path) -> None:
    empty, twice, rules = original.limit(0), original.union(original), mixed(tmp_path)
    for suppression in (True, False):
        rules["audit"] = {"suppression": suppression}
        for key in ("id", None):
            text = refusal(lambda key=key: audit(original, empty, rules, key=key))
            assert text == "release: the table is empty"
        text = refusal(lambda: audit(original, twice, rules))
        assert text == "release: the release has 160 rows, more than the 80 of the original"
    assert refusal(lambda: audit(empty, original, rules)) == "input: the table is empty"


def test_neither_pair_nor_places(original: Any, spark: Any, tmp_path: Path) -> None:
    rules = mixed(tmp_path)
    text = refusal(lambda: audit(None, original, rules, spark=spark))
    assert text == "input: is required when no original is given"
    text = refusal(lambda: audit(original, None, rules))
    assert text == "output: is required when no release is given"
    for form, reason in (("parquet", "does not exist"), ("delta", "is no Delta table")):
        sink = {"format": form, "path": str(tmp_path / "nowhere")}
        text = refusal(lambda sink=sink: audit(original, None, rules | {"output": sink}))
        assert text.startswith("output.path: ")
        assert reason in text


@pytest.mark.slow
def test_damaged_files(own: dict[str, Any], spark: Any, tmp_path: Path) -> None:
    sparkanon.anonymize(None, own, spark=spark)
    for part in (tmp_path / "out").glob("part-*"):
        whole = part.read_bytes()
        part.write_bytes(whole[:4] + SECRET.encode() * 9 + whole[4 + 9 * len(SECRET) :])
        part.with_name(f".{part.name}.crc").unlink(missing_ok=True)
    assert "damaged" in refusal(lambda: audit(None, None, own, spark=spark))


# --- gates


LOOSE = {
    "max_linkage_masked_to_original": 1,
    "min_l_distinct": 1,
    "max_t_closeness": 1,
    "max_homogeneous": 1,
    "min_entropy": 0,
    "max_interval_rank": 1,
    "max_uniqueness": 0,
}
TIGHT = {
    "max_linkage_masked_to_original": 0.001,
    "min_l_distinct": 4,
    "max_t_closeness": 0.0001,
    "max_homogeneous": -1,
    "min_entropy": 99,
    "max_interval_rank": 0,
    "max_uniqueness": -0.5,
}


def test_gates_on_any_measure(own: dict[str, Any], spark: Any, tmp_path: Path) -> None:
    release = sparkanon.anonymize(None, own | {"gates": LOOSE}, spark=spark)
    assert [gate.gate for gate in release.gates] == ["min_k", *LOOSE]
    assert audit(None, None, own | {"gates": LOOSE}, spark=spark).status == "ok"
    before = files(tmp_path / "out") | files(tmp_path / "private")

    with pytest.raises(GateError) as refused:
        sparkanon.anonymize(None, own | {"gates": TIGHT}, spark=spark)
    assert refused.value.exit_code == 3
    assert files(tmp_path / "out") | files(tmp_path / "private") == before
    with pytest.raises(FailedAuditError) as failed:
        audit(None, None, own | {"gates": TIGHT}, spark=spark)
    assert failed.value.exit_code == 3
    done = failed.value.audit
    assert done.status == "refused"
    assert {m.measure for m in done.measures} == CATALOGUE.keys()
    for gates in (refused.value.release.gates, done.gates):
        assert {gate.gate for gate in gates if not gate.passed} == TIGHT.keys()
        assert all(gate.value is not None for gate in gates)


@pytest.mark.slow
def test_anonymize_and_audit_measure_alike(own: dict[str, Any], spark: Any) -> None:
    release = sparkanon.anonymize(None, own | {"audit": {"take": "all"}}, spark=spark)
    done = audit(None, None, own, spark=spark)
    one, other = ({(m.measure, m.column): m for m in made.measures} for made in (release, done))
    assert one.keys() == other.keys()
    for name, measure in one.items():
        assert measure.value == pytest.approx(other[name].value), name


def test_a_gate_without_a_value_fails_closed(own: dict[str, Any], spark: Any) -> None:
    own["columns"] = own["columns"] | {"ill": "keep"}
    own["gates"] = {"min_l_distinct": 0}
    with pytest.raises(GateError) as refused:
        sparkanon.anonymize(None, own, spark=spark)
    assert str(refused.value).startswith("gates.min_l_distinct: could not be measured")
    assert not Path(own["output"]["path"]).exists()
    own["gates"] = {}
    sparkanon.anonymize(None, own, spark=spark)
    own["gates"] = {"max_linkage_original_to_masked": 1, "max_il": 100}
    with pytest.raises(FailedAuditError) as failed:
        audit(None, None, own | {"private": None}, spark=spark)
    passed = {gate.gate: gate.passed for gate in failed.value.audit.gates}
    always = {"min_k": True, "max_identifiers": True}
    assert passed == always | {"max_linkage_original_to_masked": False, "max_il": True}


@pytest.mark.slow
def test_listed_measures_only(own: dict[str, Any], spark: Any) -> None:
    own |= {"audit": {"take": ["l_distinct"]}, "gates": {"max_il": 100}}
    release = sparkanon.anonymize(None, own, spark=spark)
    standard = {"min_class_size", "below_k", "il", "sse", "sst"}
    assert values(release).keys() == standard | {"l_distinct"}
    assert standard | {"l_distinct"} == values(audit(None, None, own, spark=spark)).keys()


@pytest.mark.slow
def test_sampled_targets_carry_an_interval(original: Any, tmp_path: Path) -> None:
    rules = mixed(tmp_path, audit={"take": list(LINKAGE), "targets": 40})
    released = original.selectExpr(*GENERALIZED)
    whole = values(audit(original, released, rules | {"audit": {}}, key="id"))
    sampled = {m.measure: m for m in audit(original, released, rules, key="id").measures}
    for name in ("linkage_masked_to_original", "linkage_original_to_masked"):
        low, high = sampled[name].low, sampled[name].high
        assert low < whole[name] < high
        assert low <= sampled[name].value <= high


# --- what is written


@pytest.mark.slow
def test_the_measures_table_grows_by_a_row_for_each_measure(
    own: dict[str, Any], spark: Any, tmp_path: Path
) -> None:
    own["audit"] = {"table": {"path": str(tmp_path / "measures")}}
    release = sparkanon.anonymize(None, own, spark=spark)
    done = audit(None, None, own, spark=spark)
    table = spark.read.parquet(str(tmp_path / "measures"))
    assert table.columns == ["run_id", "taken", "measure", "column", "value", "low", "high"]
    rows = {(r["run_id"], r["measure"], r["column"]): r["value"] for r in table.collect()}
    assert len(rows) == table.count() == len(release.measures) + len(done.measures)
    assert rows[release.run_id, "il", None] == values(release)["il"]
    assert rows[done.run_id, "l_distinct", "ill"] == values(done)["l_distinct"]


@pytest.mark.slow
def test_a_measures_table_that_cannot_be_written_is_refused(
    own: dict[str, Any], spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place, message in (("file", "cannot write in"), ("out/measures", "is the output")):
        own["audit"] = {"table": {"path": str(tmp_path / place)}}
        kind = InputError if place == "file" else PolicyError
        text = refusal(lambda: sparkanon.anonymize(None, own, spark=spark), kind)
        assert text.startswith(f"audit.table.path: {message}")
    assert not (tmp_path / "runs").exists()


def test_nothing_that_is_reported_holds_a_cell(
    own: dict[str, Any], spark: Any, tmp_path: Path
) -> None:
    own["audit"] = {"take": "all", "table": {"path": str(tmp_path / "measures")}}
    sparkanon.anonymize(None, own, spark=spark)
    audit(None, None, own, spark=spark)
    for made in (tmp_path / "runs").iterdir():
        assert write_report(made).name == "report.html"
        showed_no_cell(*(path.read_text() for path in made.iterdir()))
    showed_no_cell((tmp_path / "out" / "_sparkanon.json").read_text())
    showed_no_cell(*map(str, spark.read.parquet(str(tmp_path / "measures")).collect()))


# --- the command; the slow ones with a JVM of its own in each call


AUDIT_KEYS = {"status", "run_id", "measures", "gates", "columns", "left_out", "report"}


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    rows = [f"{i},{20 + i * 7 % 30},0{i % 4},{WORDS[i % 3]}{i % 2}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["id,age,zip,ill", *rows]) + "\n")
    foreign = [f"{i},*,0{i % 4},{WORDS[i % 3]}{i % 2}" for i in reversed(range(60))]
    (tmp_path / "foreign.csv").write_text("\n".join(["id,age,zip,ill", *foreign]) + "\n")
    rules = {
        "version": 1,
        "columns": {
            "id": "identifier",
            "age": QUASI,
            "zip": {"role": QUASI, "type": "nominal"},
            "ill": "sensitive",
        },
        "k": 3,
        "method": {"space": "gower"},
    }
    (tmp_path / "roles.yaml").write_text(yaml.safe_dump(rules))
    own = rules | {
        "input": {"format": "csv", "path": "people.csv"},
        "output": {"format": "csv", "path": "out"},
        "private": {"path": "private"},
    }
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(own))
    return tmp_path


@pytest.mark.slow
def test_commands_on_an_own_release(csv: Path) -> None:
    made = run(csv, "anonymize", "policy.yaml", "--json")
    assert made.returncode == 0, made.stderr
    done = run(csv, "audit", "policy.yaml", "--json", "--set", "gates.min_l_distinct=99")
    assert done.returncode == 3, done.stderr
    reported = json.loads(done.stdout)
    assert reported.keys() == AUDIT_KEYS | {"errors"}
    assert reported["status"] == "refused"
    left_out = [one["measure"] for one in reported["left_out"]]
    assert left_out == ["mean_absolute_correlation"]  # age is the only column with an order
    assert [error["path"] for error in reported["errors"]] == ["gates.min_l_distinct"]
    keys = {"measure", "column", "value", "low", "high"}
    assert all(measure.keys() == keys for measure in reported["measures"])
    assert all(
        gate.keys() == {"gate", "limit", "value", "compared", "passed"}
        for gate in reported["gates"]
    )
    assert "linking" in done.stderr  # the steps
    showed_no_cell(made.stdout, made.stderr, done.stdout, done.stderr)
    for run_id in (json.loads(made.stdout)["run_id"], reported["run_id"]):
        drawn = run(csv, "report", f"runs/{run_id}", "--json")
        assert drawn.returncode == 0, drawn.stderr
        assert (csv / json.loads(drawn.stdout)["report"]).read_text().startswith("<!")
    assert (csv / reported["report"]).is_file()


def test_commands_on_a_foreign_release(csv: Path, command: Command) -> None:
    pair = ("--original", str(csv / "people.csv"), "--release", str(csv / "foreign.csv"))
    done = command(csv, "audit", *pair, "--roles", "roles.yaml", "--key", "id")
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout
    assert "linkage_masked_to_original" in done.stdout
    showed_no_cell(done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ((), "POLICY"),
        (("--original", "people.csv", "--release", "foreign.csv"), "POLICY"),
        (("--roles", "roles.yaml", "--original", "people.csv"), "--release"),
        (("roles.yaml",), "--original"),
    ],
)
def test_commands_without_a_pair(csv: Path, arguments: tuple[str, ...], path: str) -> None:
    done = run(csv, "audit", *arguments, "--json")
    assert done.returncode == 2
    reported = json.loads(done.stdout)
    assert reported["status"] == "error"
    assert reported["errors"][0]["path"] == path


@pytest.mark.parametrize("far", ["double('infinity')", "1e200D", "-1.7e308D"])
@pytest.mark.parametrize("space", ["euclidean", "gower"])
def test_released_values_beyond_all_distances_are_reported(
    people: Any, tmp_path: Path, far: str, space: str
) -> None:
    """The infinities that were made of them ended the audit with an unexpected error."""
    released = people.drop("ill").withColumn("pay", F.expr(f"if(id % 2 = 0, {far}, pay)"))
    more = {"gates": {f"max_{LINKAGE[0]}": 1.0}, "audit": {"take": "all"}}
    given = policy(tmp_path, method={"space": space}) | more
    with pytest.raises(
        FailedAuditError, match=f"max_{LINKAGE[0]}: could not be measured"
    ) as failed:
        audit(people, released, given, key="id")
    left_out = failed.value.audit.left_out
    assert left_out[LINKAGE[0]].endswith("no double holds the distance: column pay")
    assert "so far from the originals" in left_out["il"]
    assert failed.value.audit.folder is not None
    write_report(failed.value.audit.folder)


@pytest.mark.slow
def test_commands_on_a_release_that_does_not_exist(csv: Path) -> None:
    pair = ("--original", "people.csv", "--release", "nowhere.csv")
    done = run(csv, "audit", *pair, "--roles", "roles.yaml", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["errors"] == [
        {"path": "--release", "message": "nowhere.csv does not exist"}
    ]


@pytest.mark.slow
def test_a_folder_without_a_report(csv: Path) -> None:
    done = run(csv, "report", ".")
    assert done.returncode == 2
    assert "report.json: is missing" in done.stderr
