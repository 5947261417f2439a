"""Names of tables go into SQL: a policy of a stranger must not get more than a name in there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkanon.cli.app import run
from sparkanon.errors import PolicyError
from sparkanon.policy import make_policy

HOSTILE = [
    "people; drop table x",
    "people;",
    "a b",
    "t where 1=1",
    "people -- ",
    "people /* */",
    "../x",
    "a.b.c.d",
    "a..b",
    ".a",
    "a.",
    "`a",
    "a`",
    "```",
    "`a`b`",
    "``",
    "`a` union select * from b",
    "a\nb",
    "people\n",
    "(select 1)",
    "my-table",
    "tàble",
    " people",
]
PLAIN = ["people", "db.people", "lake.db.people_2025", "`a b`", "db.`a``b; drop`", "2025.`../x`"]


def policy(source: str, sink: str) -> dict[str, Any]:
    return {
        "input": {"format": "table", "name": source},
        "output": {"format": "table", "name": sink},
        "columns": {"age": "quasi_identifier"},
        "k": 3,
    }


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_name_is_refused_before_spark_starts(name: str) -> None:
    for names, where in (((name, "some.other"), "input"), (("some.other", name), "output")):
        with pytest.raises(PolicyError) as caught:
            make_policy(policy(*names))
        assert [problem.path for problem in caught.value.problems] == [f"{where}.name"]
        assert "no name of a table" in str(caught.value)


@pytest.mark.parametrize("name", PLAIN)
def test_names_that_spark_takes_are_taken(name: str) -> None:
    assert make_policy(policy(name, "somewhere.else_k")).input is not None


def test_the_same_table_is_seen_through_its_backquotes() -> None:
    with pytest.raises(PolicyError, match=r"output.name: is the input table"):
        make_policy(policy("db.people", "`DB`.`people`"))


def test_the_command_line_takes_no_more_than_a_name(
    spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spark.range(10).createOrReplaceTempView("hostile_names")
    for name in ("hostile_names; drop view hostile_names", "hostile_names as json"):
        assert run(["profile", name, "--format", "table"]) == 2
        assert "no name of a table" in capfd.readouterr().err
    assert spark.catalog.dropTempView("hostile_names"), "it is still there, and does not stay"
