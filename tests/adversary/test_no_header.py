"""A CSV file without a header line: its first person must not be printed as column names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pyspark.sql import types as T
from reference_data import data_file

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
def test_counts_are_reported_and_no_names(
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


def test_profile_is_reported_that_there_is_none(
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


WORDS_ONLY = [  # first lines that hold no number, no day and no word that others repeat
    "Zeta Quaggason,Unter den Linden,m",
    "Zeta Quaggason,Kreuzberg,baker",
    "Quaggason,Kreuzberg,baker",
    "Quaggason,baker,hiv",
    "Quaggason,village",
    "Zeta Quaggason,12 Main Street,New York City",
    "Zeta Quaggason,3 Mar 1980,A12345",
    "Zeta Quaggason,12. Februar 1980,m",
    "Zeta Quaggason,AB-1234-X",
    "Zeta Quaggason,born 1980-01-02,Graz",
    "Quaggason",
    "zeta_quaggason,ada_quagga",
    "zeta_quaggason,Graz",
    "vanDyke,deQuagga,mcQuaggason",
]


@pytest.mark.parametrize("line", WORDS_ONLY)
def test_words_do_not_pass_for_names(line: str) -> None:
    names = line.split(",")
    assert looks_like_data(schema(*((name, T.StringType()) for name in names)))


@pytest.mark.parametrize("line", [WORDS_ONLY[0], WORDS_ONLY[1], WORDS_ONLY[6]])
def test_profile_shows_no_person_whose_cells_are_words(
    tmp_path: Path, command: Any, check_nobody_is_shown: Any, line: str
) -> None:
    others = [",".join(f"N{i} M{j}" for j in range(line.count(",") + 1)) for i in range(20)]
    (tmp_path / "words.csv").write_text("\n".join([line, *others]) + "\n")
    done = command(tmp_path, "profile", str(tmp_path / "words.csv"), "--json")
    assert done.returncode == 2
    assert "--no-header" in json.loads(done.stdout)["errors"][0]["message"]
    check_nobody_is_shown(done)


def test_profile_shows_no_line_that_was_not_cut(
    tmp_path: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    rows = [f"N{i} M;Town{i};{20 + i};1980-01-0{1 + i % 9}" for i in range(20)]
    semi = tmp_path / "semi.csv"
    for first in ("Zeta Quaggason;Graz;52;1980-01-01", "name;town;age;born"):
        semi.write_text("\n".join([first, *rows]) + "\n")
        done = command(tmp_path, "profile", str(semi))
        assert done.returncode == 2
        assert "is one of these the separator? Say it with --sep" in done.stderr
        check_nobody_is_shown(done)
    done = command(tmp_path, "profile", str(semi), "--sep", ";", "--json")
    found = json.loads(done.stdout)
    assert [column["name"] for column in found["columns"]] == ["name", "town", "age", "born"]
    assert yaml.safe_load(found["policy"])["input"]["options"] == {"sep": ";"}


def test_one_cell_that_is_called_as_a_column_does_not_show_the_others(
    tmp_path: Path, command: Any, check_nobody_is_shown: Any
) -> None:
    rows = ["Zeta Quaggason,m,41,Graz"] + [f"N{i} M,f,{i},Town{i}" for i in range(20)]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    for columns in (["name", "m", "f", "age"], ["m", "f"], ["m"]):
        roles = dict.fromkeys(columns, "quasi_identifier")
        done = command(tmp_path, "anonymize", written(tmp_path, columns=roles))
        assert done.returncode == 2
        assert "of the policy is among the 4 columns of the table, whose names" in done.stderr
        assert [f"columns.{name}" in done.stderr for name in ("f", "age")] == [
            name in columns for name in ("f", "age")
        ], "names of the policy may be shown"
        check_nobody_is_shown(done)


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        ("First name", "Last name", "Date of birth", "City"),
        ("marital-status", "native-country", "has_nurs", "homePhone", "class"),
    ],
)
def test_names_over_words_that_are_names(names: tuple[str, ...]) -> None:
    assert not looks_like_data(schema(*((name, T.StringType()) for name in names)))


@pytest.mark.parametrize(
    "names",
    [
        ("x1", "x2", "_c2", "y"),
        ("Straße", "größe (cm)", "a.b", "q1", "icd10", "t_2020"),
        ("No of children", "yes/no", "1st visit", "x"),
        ("hours per week", "Favourite colour", "Zeta Quaggason"),
    ],
)
def test_names_that_no_number_is_called(names: tuple[str, ...]) -> None:
    """Where all other lines have a number the first one has a word: it is a header."""
    first, *others = names
    texts = [(name, T.StringType()) for name in others]
    assert not looks_like_data(schema((first, T.DoubleType()), *texts))


def test_headers_of_known_tables_are_headers() -> None:
    tables = sorted(data_file("adult.csv").parent.glob("*.csv"))
    assert tables
    for path in tables:
        for skipped in (0, 1):
            read = pd.read_csv(path, nrows=300, skiprows=skipped)
            fields = [
                (str(name), T.StringType() if kind.kind == "O" else T.DoubleType())
                for name, kind in read.dtypes.items()
            ]
            assert looks_like_data(schema(*fields)) == (skipped == 1), (path.name, skipped)


def test_a_number_that_is_called_by_a_number_is_one() -> None:
    words = [(name, T.StringType()) for name in ("Ada", "F", "Graz")]
    assert looks_like_data(schema(*words, ("41", T.IntegerType())))
    years = schema(*words, ("2019", T.IntegerType()), ("id", T.IntegerType()))
    assert looks_like_data(years), "as well a person of whom one number is not known"


def test_a_table_with_half_of_the_names_of_the_policy_has_a_header() -> None:
    policy = make_policy({"columns": ROLES, "k": 3, "method": {"space": "gower"}})
    texts = [(name, T.StringType()) for name in NAMES[2:6]]
    few = [("id", T.IntegerType()), ("nam", T.StringType())]
    with pytest.raises(InputError, match=r"1 of the 9 columns of the policy is .* not shown"):
        resolve(policy, schema(*few))
    with pytest.raises(InputError, match=r"did you mean nam\?"):
        resolve(policy, schema(*few, *texts))
