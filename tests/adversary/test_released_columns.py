"""A release that still holds identifiers, or raw copies under other names, does not pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import functions as F
from pyspark.sql import types as T
from seeds import seed_text

import sparkanon
from sparkanon.engine.audit import audit
from sparkanon.engine.audit.contents import BY_PART, BY_ROW, BY_VALUES, meaning
from sparkanon.engine.audit.run import FailedAuditError
from sparkanon.report import write_report

QUASI = "quasi_identifier"
SECRET = "Zanzibar"  # stands in cells only
ROWS = 24
COLUMNS = {
    "id": "identifier",
    "näme.x": "identifier",
    "age": QUASI,
    "pay.eur": QUASI,
    "ill": "sensitive",
}
TYPES = "id long, `näme.x` string, age int, `pay.eur` double, ill string"


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    rows = [
        (1000 + i, f"{SECRET}{i}", 20 + i * 7 % 24, 50.0 * i + i % 3 / 2, f"w{i % 3}")
        for i in range(ROWS)
    ]
    return spark.createDataFrame(rows, TYPES).coalesce(2).cache()


def policy(folder: Path, **more: Any) -> dict[str, Any]:
    quick = {"take": ["min_class_size"]}
    return {"columns": COLUMNS, "k": 3, "runs": str(folder / "runs"), "audit": quick} | more


@pytest.fixture(scope="module")
def masked(people: Any) -> Any:
    """A fine release of another tool: classes of 8, and a key that the audit is given."""
    return people.selectExpr("id", "id div 8 * 8 as age", "id div 8 * 1.5D as `pay.eur`", "ill")


def refused(*given: Any, **more: Any) -> Any:
    with pytest.raises(FailedAuditError) as caught:
        audit(*given, **more)
    reported = str(caught.value) + caught.value.audit.report.to_json()
    assert SECRET not in reported
    assert caught.value.exit_code == 3
    assert caught.value.audit.status == "refused"
    return caught.value


def gate(done: Any) -> Any:
    (found,) = (gate for gate in done.gates if gate.gate == "max_identifiers")
    return found


def test_a_fine_release_passes_with_its_key(people: Any, masked: Any, tmp_path: Path) -> None:
    done = audit(people, masked, policy(tmp_path), key="id")
    assert done.columns.to_dict() == {"identifiers": [], "unlisted": [], "copies": []}
    assert (gate(done).value, gate(done).limit, gate(done).passed) == (0.0, 0.0, True)


def test_the_key_is_an_identifier_where_it_is_no_key(
    people: Any, masked: Any, tmp_path: Path
) -> None:
    error = refused(people, masked, policy(tmp_path))
    assert "gates.max_identifiers: the release still holds 1 identifier: 'id'" in str(error)
    assert error.audit.columns.identifiers == ("id",)
    assert gate(error.audit).value == 1.0


def test_identifiers_by_role_whatever_they_hold(people: Any, masked: Any, tmp_path: Path) -> None:
    named = masked.selectExpr("*", "'x' as `NÄME.X`", "1 as other")
    error = refused(people, named, policy(tmp_path), key="id")
    assert error.audit.columns.identifiers == ("NÄME.X",)
    assert error.audit.columns.unlisted == ("NÄME.X", "other")


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_copies_under_other_names(
    people: Any, masked: Any, spark: Any, tmp_path: Path, form: str, keyed: bool
) -> None:
    """As a file of another tool, whose types are its own."""
    raw = people.selectExpr(
        "id as key",
        "id + 0.0D as ref",  # 1000.0
        "concat(' ', `näme.x`) as `a.b ü`",
        "cast(age as string) as a",
        "cast(`pay.eur` as decimal(20, 4)) as p",
        "-age as changed",
    )
    release = masked.join(raw, masked["id"] == raw["key"]).drop("key")
    release = release if keyed else release.drop("id")
    writer = release.repartition(3).write.option("header", True)
    writer.format(form).save(str(tmp_path / "out"))
    read = spark.read.option("header", True).option("inferSchema", True)
    found = read.format(form).load(str(tmp_path / "out"))
    error = refused(people, found, policy(tmp_path), key="id" if keyed else None)
    held = error.audit.columns
    how = BY_ROW if keyed else BY_VALUES
    assert {(copy.column, copy.of, copy.how) for copy in held.copies} == {
        ("ref", "id", how),
        ("a.b ü", "näme.x", how),
        ("a", "age", how),
        ("p", "pay.eur", how),
    }
    assert set(held.identifiers) == {"ref", "a.b ü"}
    assert set(held.unlisted) == {"ref", "a.b ü", "a", "p", "changed"}
    assert "'a.b ü' (a copy of 'näme.x')" in str(error)


def test_the_order_matters_where_a_key_tells_it(people: Any, masked: Any, tmp_path: Path) -> None:
    shuffled = people.selectExpr(f"1000 + (id + 5) % {ROWS} as k2", "id as ref", "age as a")
    release = masked.join(shuffled, masked["id"] == shuffled["k2"]).drop("k2")
    assert audit(people, release, policy(tmp_path), key="id").columns.copies == ()
    held = refused(people, release.drop("id"), policy(tmp_path)).audit.columns
    assert {(copy.column, copy.of) for copy in held.copies} == {("ref", "id"), ("a", "age")}


def test_a_quasi_identifier_that_was_not_masked_is_reported(
    people: Any, masked: Any, tmp_path: Path
) -> None:
    release = masked.drop("pay.eur").join(people.select("id", "`pay.eur`"), "id")
    error = refused(people, release, policy(tmp_path), key="id")  # k is broken, too
    assert error.audit.columns.to_dict()["copies"] == [
        {"column": "pay.eur", "of": "pay.eur", "how": BY_ROW}
    ]
    assert error.audit.columns.identifiers == ()
    assert [g.gate for g in error.audit.gates if not g.passed] == ["min_k"]


def test_suppressed_rows_hide_no_copy_from_a_key(people: Any, masked: Any, tmp_path: Path) -> None:
    release = masked.selectExpr("*", "id as ref").filter("id >= 1008")
    allowed = policy(tmp_path, audit={"suppression": True, "take": ["min_class_size"]})
    error = refused(people, release, allowed, key="id")
    assert error.audit.columns.identifiers == ("ref",)
    done = audit(people, release.drop("id", "ref"), allowed)
    assert "give a key" in done.left_out["copies"]


def test_suppressed_rows_hide_no_whole_copy_without_a_key(
    people: Any, masked: Any, tmp_path: Path
) -> None:
    """Nobody knows which rows are missing, but all that is there is somebody's identifier."""
    raw = people.selectExpr("id as key", "concat(`näme.x`, ' ') as nick", "id % 3 as few")
    release = masked.join(raw, masked["id"] == raw["key"]).filter("id >= 1008").drop("id", "key")
    allowed = policy(tmp_path, audit={"suppression": True, "take": ["min_class_size"]})
    held = refused(people, release, allowed).audit.columns
    assert [(copy.column, copy.of, copy.how) for copy in held.copies] == [
        ("nick", "näme.x", BY_PART)
    ]
    assert held.identifiers == ("nick",)
    assert audit(people, release.drop("nick"), allowed).columns.copies == ()


NESTED = {
    "binary": "cast(`näme.x` as binary)",
    "bytes": "unhex(md5(`näme.x`))",
    "array": "array('x', `näme.x`)",
    "struct": "named_struct('first', `näme.x`, 'born', date'1990-01-01')",
    "map": "map('first', `näme.x`)",
    "list of maps": "array(map('first', `näme.x`))",
}


@pytest.mark.parametrize("keyed", [True, False])
def test_identifiers_of_any_type_are_copies(
    people: Any, masked: Any, tmp_path: Path, keyed: bool
) -> None:
    """Once a column of bytes, or a nested one, was compared with nothing."""
    held = people.selectExpr("*", *(f"{sql} as `o {kind}`" for kind, sql in NESTED.items()))
    raw = held.selectExpr("id", *(f"`o {kind}` as `z {kind}`" for kind in NESTED))
    release = masked.join(raw, "id").withColumn("z constant", F.lit(b"same"))
    columns = COLUMNS | dict.fromkeys((f"o {kind}" for kind in NESTED), "identifier")
    given = policy(tmp_path, columns=columns), "id" if keyed else None
    error = refused(held, release if keyed else release.drop("id"), given[0], key=given[1])
    found = {copy.column: copy.of for copy in error.audit.columns.copies}
    wanted = {f"z {kind}": f"o {kind}" for kind in NESTED}
    wanted["z binary"] = "näme.x"  # the bytes of a text are the text, whatever column comes first
    assert found == wanted


def test_one_value_everywhere_is_nobodys_copy(people: Any, masked: Any, tmp_path: Path) -> None:
    same = people.selectExpr("*", "7 as lot")
    release = masked.selectExpr("*", "7.0D as version")
    columns = COLUMNS | {"lot": "identifier"}
    done = audit(same, release, policy(tmp_path, columns=columns), key="id")
    assert done.columns.copies == ()
    assert done.columns.unlisted == ("version",)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("release", ["permute", "centroid"])
def test_own_releases_are_not_accused(
    people: Any, spark: Any, tmp_path: Path, release: str, paired: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("COPIES_SEED", seed_text("copies"))
    people.write.parquet(str(tmp_path / "in"))
    own = policy(
        tmp_path,
        input={"format": "parquet", "path": str(tmp_path / "in")},
        output={"format": "parquet", "path": str(tmp_path / "out")},
        method={"release": release},
        seed={"env": "COPIES_SEED"},
    ) | ({"private": {"path": str(tmp_path / "pairs")}} if paired else {})
    sparkanon.anonymize(None, own, spark=spark)
    try:
        done = audit(None, None, own, spark=spark)
    except FailedAuditError as failed:  # k of a permuted release needs the pairing
        assert not paired
        done = failed.audit
    assert done.columns.to_dict() == {"identifiers": [], "unlisted": [], "copies": []}
    assert gate(done).passed


def test_a_kept_copy_of_an_identifier_in_an_own_release(
    people: Any, spark: Any, tmp_path: Path
) -> None:
    """Whoever gives the role keep to a second name of an identifier publishes it."""
    people.selectExpr("*", "concat('0', id) as ref").write.parquet(str(tmp_path / "in"))
    own = policy(
        tmp_path,
        columns=COLUMNS | {"ref": "keep"},
        input={"format": "parquet", "path": str(tmp_path / "in")},
        output={"format": "parquet", "path": str(tmp_path / "out")},
        private={"path": str(tmp_path / "pairs")},
    )
    sparkanon.anonymize(None, own, spark=spark)
    error = refused(None, None, own, spark=spark)
    assert error.audit.columns.identifiers == ("ref",)
    assert error.audit.columns.unlisted == ()


def test_what_the_command_shows(
    people: Any, masked: Any, spark: Any, tmp_path: Path, command: Any
) -> None:
    people.write.parquet(str(tmp_path / "x"))
    masked.selectExpr("*", "id as ref").write.parquet(str(tmp_path / "z"))
    (tmp_path / "roles.yaml").write_text(yaml.safe_dump(policy(tmp_path), allow_unicode=True))
    pair = "--original", str(tmp_path / "x"), "--release", str(tmp_path / "z")
    call = "audit", "--roles", str(tmp_path / "roles.yaml"), *pair, "--key", "id"
    done = command(tmp_path, *call, "--json")
    assert done.returncode == 3
    reported = json.loads(done.stdout)
    assert reported["status"] == "refused"
    assert reported["columns"] == {
        "identifiers": ["ref"],
        "unlisted": ["ref"],
        "copies": [{"column": "ref", "of": "id", "how": "row by row"}],
    }
    (failed,) = reported["errors"]
    assert failed["path"] == "gates.max_identifiers"
    assert "'ref' (a copy of 'id')" in failed["message"]
    report = json.loads(Path(reported["report"]).read_text())
    assert report["columns"] == reported["columns"]
    assert "copy of id" in write_report(Path(reported["report"]).parent).read_text()
    done = command(tmp_path, *call)
    assert done.returncode == 3
    assert "identifier: ref" in done.stdout
    assert "copy: ref equals id row by row" in done.stdout
    assert "not in the policy: ref" in done.stdout
    assert "still holds 1 identifier: 'ref'" in done.stderr
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "same",
    [
        ("1L", "1", "1.0D", "1.00BD", "' 01'", "'1.0'", "'+1e0'", "cast(1 as float)", "-(-1S)"),
        ("0.5D", "0.50BD", "'0.5'", "cast(0.5 as float)", "'5E-1'"),
        ("9223372036854775807L", "'9223372036854775807'", "9223372036854775807BD"),
        ("1e19D", "'10000000000000000000'", "10000000000000000000BD", "'1e19'"),
        ("'1000000000000000000000001'", "1000000000000000000000001BD",
         "' +001000000000000000000000001.00'", "1000000000000000000000001.0BD"),
        ("'-1000000000000000000000001'", "-1000000000000000000000001BD"),
        ("date'2020-02-03'", "timestamp_ntz'2020-02-03 00:00:00'",
         "timestamp'2020-02-03 00:00:00'", "'2020-02-03'", "'2020-02-03T00:00:00'"),
        ("true", "'True'"),
        ("'Ärzte'", "' Ärzte '", "'äRZTE'"),
        ("'Person  1 a'", "'person 1 A'", "'Person 1\ta '"),
        ("'-'", "'- '"),
        ("'2020-99-99'", "'2020-99-99 '"),
        ("cast(null as string)", "''", "'NaN'", "cast('NaN' as double)", "cast(null as int)",
         "cast(null as date)", "cast(null as decimal(3, 1))", "cast(null as boolean)"),
    ],
)  # fmt: skip
def test_the_hash_of_a_cell_goes_by_its_meaning(spark: Any, same: tuple[str, ...]) -> None:
    cells = spark.range(1).selectExpr(*(f"{sql} as c{i}" for i, sql in enumerate(same)))
    hashes = [meaning(field.name, field.dataType) for field in cells.schema]
    found = set(cells.selectExpr(*(f"{sql} as h{i}" for i, sql in enumerate(hashes))).first())
    others = [meaning("c0", T.LongType()), meaning("c1", T.StringType())]
    other = spark.sql("select 2L as c0, 'x' as c1").selectExpr(*map(str, others)).first()
    assert len(found) == 1
    assert not found & set(other)


NUMBERED = {
    "iccid": "concat('894301000000000000', lpad(id % 100, 2, '0'))",  # 20 digits
    "text": "cast(cast(1000000000000000000000000 + id as decimal(38, 0)) as string)",
    "decimal": "cast(1000000000000000000000000 + id as decimal(38, 0))",
    "fraction": "cast(concat('0.1234567890123456', lpad(id % 100, 4, '0')) as decimal(38, 20))",
    "above": "concat(1000 + id, 'e400')",
    "below": "concat(1000 + id, 'e-400')",
}


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", NUMBERED)
def test_numbers_that_no_double_tells_apart_are_copies(
    spark: Any, people: Any, masked: Any, tmp_path: Path, kind: str, keyed: bool
) -> None:
    """All of them are one double, and such a column passed for one with a single value."""
    held = people.selectExpr("*", f"{NUMBERED[kind]} as number")
    release = masked.join(held.selectExpr("id", "number as ref"), "id")
    columns = COLUMNS | {"number": "identifier"}
    given = policy(tmp_path, columns=columns), "id" if keyed else None
    error = refused(held, release if keyed else release.drop("id"), given[0], key=given[1])
    (copy,) = error.audit.columns.copies
    assert (copy.column, copy.of) == ("ref", "number")


@pytest.mark.parametrize(
    "changed",
    ["upper(`näme.x`)", "replace(`näme.x`, 'z', '  z ')", "lower(concat(`näme.x`, ' '))"],
)
def test_case_and_spaces_hide_no_copy(
    people: Any, masked: Any, tmp_path: Path, changed: str
) -> None:
    release = masked.join(people.selectExpr("id", f"{changed} as nick"), "id")
    held = refused(people, release, policy(tmp_path), key="id").audit.columns
    assert [(copy.column, copy.of, copy.how) for copy in held.copies] == [
        ("nick", "näme.x", BY_ROW)
    ]


@pytest.fixture(scope="module")
def crowd(spark: Any) -> Any:
    """3,000 people; of `rare` one in 50 is not 0."""
    return spark.range(0, 3000, 1, 2).selectExpr(
        "id", "concat('p', id) as `näme.x`", "cast(id * 7 % 90 as int) as age",
        "if(id % 50 = 0, id, 0) as `pay.eur`", "'w' as ill",
    ).cache()  # fmt: skip


@pytest.mark.parametrize("suppressed", [False, True])
def test_a_copy_with_changed_cells_is_found_by_its_key(
    crowd: Any, tmp_path: Path, suppressed: bool
) -> None:
    release = crowd.selectExpr(
        "id",
        "id div 1000 as age",
        "0 as `pay.eur`",
        "if(id = 7, 'changed', `näme.x`) as one",
        "if(id % 40 = 3, null, `näme.x`) as some",  # 97.5 % are left
        "if(id % 10 = 3, 'no', `näme.x`) as fewer",  # 90 %
        "if(id = 9, 5, age) as years",
        "if(id % 50 = 1, id, 0) as other",  # 0 like most of `pay.eur`, and nothing else
    )
    release = release.filter("id % 3 < 2") if suppressed else release
    allowed = policy(tmp_path, audit={"take": ["min_class_size"], "suppression": suppressed})
    held = refused(crowd, release, allowed, key="id").audit.columns
    found = {copy.column: (copy.of, copy.how) for copy in held.copies}
    assert {name: of for name, (of, _) in found.items()} == {
        "one": "näme.x", "some": "näme.x", "years": "age",
    }  # fmt: skip
    assert found["one"][1] == "has the same cell in some 99 % of rows"
    assert found["some"][1] == "has the same cell in some 97 % of rows"
    assert set(held.identifiers) == {"one", "some"}


def test_a_sample_is_enough(crowd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkanon.engine.audit.contents.SAMPLE_ROWS", 500)
    release = crowd.selectExpr("id", "0 as age", "if(id = 7, 'changed', `näme.x`) as one")
    held = refused(crowd, release, policy(tmp_path), key="id").audit.columns
    assert held.identifiers == ("one",)
