"""A CSV file without a header line: its first person must not be printed as column names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import types as T

from sparkanon.engine.table.columns import resolve
from sparkanon.engine.table.headers import looks_like_data
from sparkanon.errors import InputError
from sparkanon.policy import make_policy

PERSON = ("4711", "Ada Quagga", "1980-02-03", "F", "8010", "Graz-Ost", "married", "41250", "flu")
NAMES = ("id", "name", "born", "sex", "zip", "town", "status", "pay", "illness")
SHOWN = ("4711", "Quagga", "1980", "8010", "Graz", "41250")
ROLES = dict.fromkeys(NAMES, "quasi_identifier") | {"id": "identifier", "name": "identifier"}


def lines(count: int = 30) -> list[str]:
    people = [
        (f"{100 + i}", f"N{i}", f"19{50 + i}-01-02", "MF"[i % 2], f"80{10 + i}", "Linz", "single",
         f"{30_000 + 7 * i}", "flu")
        for i in range(count)
    ]  # fmt: skip
    return [",".join(person) for person in (PERSON, *people)]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("\n".join(lines()) + "\n")
    return tmp_path


def written(folder: Path, **changes: Any) -> str:
    policy = {
        "input": {"format": "csv", "path": str(folder / "people.csv")},
        "output": {"format": "csv", "path": str(folder / "out")},
        "columns": ROLES,
        "k": 3,
        "method": {"space": "gower"},
    }
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(policy | changes))
    return str(path)


@pytest.fixture
def check_nobody_is_shown(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """To a person or a scheduler, and to whoever reads Spark's log."""

    def check(done: Any) -> None:
        assert [word for word in SHOWN if word in done.stdout + done.stderr] == []
        (log,) = tmp_path_factory.getbasetemp().glob("spark[0-9]*/spark.log")
        assert "Quagga" not in log.read_text()

    return check


@pytest.mark.parametrize("unlisted", ["error", "drop", "keep"])
def test_counts_are_told_and_no_names(
    bare: Path, command: Any, check_nobody_is_shown: Any, unlisted: str
) -> None:
    done = command(bare, "anonymize", written(bare, unlisted=unlisted))
    assert done.returncode == 2
    assert "none of the 9 columns of the policy is among the 9 columns of the table" in done.stderr
    assert "header line" in done.stderr
    check_nobody_is_shown(done)


def test_the_audit_tells_no_names_either(
    bare: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    (bare / "with.csv").write_text("\n".join([",".join(NAMES), *lines()]) + "\n")
    release, roles = str(bare / "people.csv"), written(bare)
    done = command(bare, "audit", "--roles", roles, "--original", release, "--release", release)
    assert done.returncode == 2
    check_nobody_is_shown(done)
    original = str(bare / "with.csv")
    done = command(bare, "audit", "--roles", roles, "--original", original, "--release", release)
    assert done.returncode == 2
    check_nobody_is_shown(done)


def test_types_that_are_declared_find_no_header(
    bare: Path, command: Any, check_nobody_is_shown: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    types = ", ".join(f"{name} STRING" for name in NAMES)
    source = {"format": "csv", "path": str(bare / "people.csv"), "types": types}
    done = command(bare, "anonymize", written(bare, input=source))
    assert done.returncode == 2
    assert "input.options.header: false" in done.stderr
    check_nobody_is_shown(done)


def test_profile_says_that_the_header_looks_like_data(
    bare: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    done = command(bare, "profile", str(bare / "people.csv"), "--json")
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)["errors"]
    assert "--no-header" in problem["message"]
    assert "9 columns" in problem["message"]
    check_nobody_is_shown(done)


def test_profile_is_told_that_there_is_none(
    bare: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    done = command(bare, "profile", str(bare / "people.csv"), "--no-header", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert [column["name"] for column in found["columns"]] == [f"_c{i}" for i in range(9)]
    assert found["rows"] == 31
    assert yaml.safe_load(found["policy"])["input"]["options"] == {"header": False}
    check_nobody_is_shown(done)


def test_profile_believes_who_says_that_these_are_the_names(
    tmp_path: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    (tmp_path / "years.csv").write_text("2019,2020,2021\n1,2,3\n4,5,6\n")
    assert command(tmp_path, "profile", str(tmp_path / "years.csv")).returncode == 2
    done = command(tmp_path, "profile", str(tmp_path / "years.csv"), "--header", "--json")
    names = [column["name"] for column in json.loads(done.stdout)["columns"]]
    assert names == ["2019", "2020", "2021"]


def test_words_alone_are_found_by_the_cells_that_repeat_them(
    tmp_path: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    rows = ["Quagga,F,Graz,flu"] + [f"N{i},{'MF'[i % 2]},Graz,flu" for i in range(20)]
    (tmp_path / "words.csv").write_text("\n".join(rows) + "\n")
    done = command(tmp_path, "profile", str(tmp_path / "words.csv"))
    assert done.returncode == 2
    check_nobody_is_shown(done)


def schema(*fields: tuple[str, T.DataType]) -> T.StructType:
    return T.StructType([T.StructField(*field) for field in fields])


@pytest.mark.parametrize(
    "names",
    [
        ("1", "2", "x"),
        ("age", "3.75", "name", "town", "job"),
        ("age", "name", "town", "ada@example.org"),
        ("a", "b", "c", "2020-01-31"),
        ("a", "b", "c", "0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("true", "no", "town"),
        ("_c0", "", "x"),
        ("12:30", "nan", "town", "job"),
        ("+43 316 873-0", "a", "b", "c"),
    ],
)
def test_names_that_are_cells(names: tuple[str, ...]) -> None:
    assert looks_like_data(schema(*((name, T.StringType()) for name in names)))


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        ("x1", "x2", "_c2", "y"),
        ("id", "name", "town", "2019"),
        ("Straße", "größe (cm)", "a.b", "q1", "icd10", "t_2020"),
        ("No of children", "yes/no", "1st visit", "x"),
    ],
)
def test_names_that_are_names(names: tuple[str, ...]) -> None:
    assert not looks_like_data(schema(*((name, T.StringType()) for name in names)))


def test_a_number_that_is_called_by_a_number_is_one() -> None:
    words = [(name, T.StringType()) for name in ("Ada", "F", "Graz")]
    assert looks_like_data(schema(*words, ("41", T.IntegerType())))
    assert not looks_like_data(schema(*words, ("2019", T.IntegerType()), ("id", T.IntegerType())))


def test_a_table_with_one_name_of_the_policy_has_a_header() -> None:
    policy = make_policy({"columns": ROLES, "k": 3, "method": {"space": "gower"}})
    with pytest.raises(InputError, match=r"did you mean nam\?"):
        resolve(policy, schema(("id", T.IntegerType()), ("nam", T.StringType())))
