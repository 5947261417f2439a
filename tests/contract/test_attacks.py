"""Every registered attack keeps the contract, on tables that Spark holds.

The bounds are those that any attack has, whatever it is after: a release of which all rows are
equal helps nobody, and a copy of a table of distinct records helps everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from sparkanon.attacks import ATTACKS, Attack
from sparkanon.catalogue import BASELINES, CATALOGUE, of_attack
from sparkanon.engine.audit import audit
from sparkanon.engine.audit.run import FailedAuditError
from sparkanon.measures import Measure

N = 48
Found = Mapping[tuple[str, str | None], Measure]


@pytest.fixture(params=list(ATTACKS), ids=ATTACKS.keys())
def attack(request: pytest.FixtureRequest) -> Attack:
    made: Attack = request.param()
    return made


def people(n: int = N) -> pd.DataFrame:
    """Distinct records with ties in every column, nulls, a constant column and categories."""
    at = np.arange(n)
    return pd.DataFrame(
        {
            "id": at,
            "age": 20.0 + at % 8,
            "pay": np.where(at % 6 == 5, np.nan, 100.0 * (at // 8)),
            "town": np.array(["here", "there", None])[at % 3],
            "same": 7.0,
            "ill": np.array(["flu", "cold"])[at % 2],
        }
    )


def attacked(
    spark: SparkSession,
    attack: Attack,
    sides: tuple[pd.DataFrame, pd.DataFrame],
    runs: Path,
    partitions: int = 2,
    shuffled: bool = False,
) -> Found:
    schema = "id long, age double, pay double, town string, same double, ill string"
    tables = []
    for i, side in enumerate(sides):
        rows = side.sample(frac=1.0, random_state=i + 5) if shuffled else side
        cells = rows.astype(object).where(rows.notna(), None)
        made = spark.createDataFrame(list(cells.itertuples(index=False, name=None)), schema)
        tables.append(made.repartition(partitions))
    # top_bottom needs no k, so that one record is enough; it takes no categories
    columns = ("age", "pay", "same") if len(sides[0]) == 1 else ("age", "pay", "same", "town")
    release: Any = {"name": "top_bottom", "share": 0.1} if len(sides[0]) == 1 else "permute"
    policy = {
        "columns": dict.fromkeys(columns, "quasi_identifier") | {"id": "keep", "ill": "sensitive"},
        "unlisted": "drop",
        "gates": {"max_uniqueness": 1.0},  # what promises nothing must have a gate on a risk
        "method": {"space": "gower", "release": release},
        "runs": str(runs),
        "audit": {"take": [], "attacks": [ATTACKS.config(attack)]},
    }
    try:
        found = audit(*tables, policy | ({"k": 2} if release == "permute" else {}), key="id")
    except FailedAuditError as error:  # a copy holds no k
        found = error.audit
    own = {about.key for about in of_attack(attack)}
    return {(one.measure, one.column): one for one in found.measures if one.measure in own}


def check(attack: Attack, found: Found) -> None:
    """Every risk with its baseline, and its control if it has one; shares with their ends."""
    assert {name for name, column in found if column is None} == {
        about.key for about in of_attack(attack)
    }
    for one in found.values():
        assert one.value is not None
        assert 0.0 <= one.value <= 1.0
        if one.low is not None or one.high is not None:
            assert one.low is not None
            assert one.high is not None
            assert 0.0 <= one.low <= one.value <= one.high <= 1.0


def risks(attack: Attack, found: Found) -> list[tuple[float, float]]:
    """The value of each risk, and that of the guess without the release."""
    values = {name: one.value for (name, column), one in found.items() if column is None}
    return [(values[a.key], values[BASELINES[a.key]]) for a in attack.gives]  # type: ignore


def test_an_attack_names_its_adversary_and_what_stands_beside(attack: Attack) -> None:
    assert all(text.strip() for text in (attack.knows, attack.after, attack.title, attack.source))
    assert attack.gives
    for about in of_attack(attack):
        assert CATALOGUE[about.key] is about
        assert about.unit == "share"
    assert all(about.better == "lower" and about.is_risk for about in attack.gives)
    beside = [about for about in (attack.baseline, attack.control) if about is not None]
    # a gate on what no release can change would say nothing
    assert all(about.better == "neither" for about in beside)
    assert ATTACKS.build(ATTACKS.config(attack)) == attack


def test_rows_that_are_all_equal_tell_no_more_than_a_guess(
    spark: SparkSession, attack: Attack, tmp_path: Path
) -> None:
    release = people().assign(age=23.0, pay=200.0, town="here", ill="flu")
    found = attacked(spark, attack, (people(), release), tmp_path)
    check(attack, found)
    for risk, guess in risks(attack, found):
        assert risk <= guess + 1e-12


def test_a_copy_is_found_out_whatever_the_order_and_the_partitions(
    spark: SparkSession, attack: Attack, tmp_path: Path
) -> None:
    copy = (people(), people())
    found = attacked(spark, attack, copy, tmp_path, partitions=1)
    check(attack, found)
    assert all(guess < risk for risk, guess in risks(attack, found))
    assert attacked(spark, attack, copy, tmp_path, partitions=7, shuffled=True) == found


def test_one_record(spark: SparkSession, attack: Attack, tmp_path: Path) -> None:
    found = attacked(spark, attack, (people(1), people(1)), tmp_path)
    check(attack, found)
    assert all(guess == pytest.approx(1.0) for _, guess in risks(attack, found))
