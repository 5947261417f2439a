"""The attacker reads what stands beside the release, and what a sweep shows around."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.catalogue import CATALOGUE
from sparkanon.engine.sweep.sweep import sweep
from sparkanon.measures import Given, Measure
from sparkanon.measures.base import Taken
from sparkanon.measures.score import TERMS, IlDrScore
from sparkanon.needs import Known
from sparkanon.policy import make_policy
from sparkanon.policy.grid import make_cells
from sparkanon.public import coarse_share, public, three_digits

ROWS = 400
SHARES = {key for key, about in CATALOGUE.items() if about.outside == "share of records"}
PUBLIC = {"sparkanon", "run_id", "k", "rows", "promise", "columns", "method", "measures", "gates"}


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.integers(0, 5, ROWS).astype(float)})
    frame.loc[:3, "b"] = [90.0, 91.0, 92.0, 93.0]  # four people who are unique in b
    frame.loc[4:6, "a"] = np.nan  # three who are dropped
    frame["ill"] = rng.integers(0, 9, ROWS)
    frame["ssn"] = np.arange(ROWS)
    return spark.createDataFrame(frame).cache()


def policy(folder: Path, **changes: Any) -> dict[str, Any]:
    roles = {"a": "quasi_identifier", "b": "quasi_identifier", "ill": "sensitive"}
    return {
        "columns": roles | {"ssn": "identifier"},
        "output": {"format": "parquet", "path": str(folder / "release")},
        "k": 5,
        "nulls": "drop_row",
        "method": {"grouping": "mdav"},
        "audit": {"take": "all"},
        "seed": {"file": seed_file(folder)},
        "runs": str(folder / "runs"),
    } | changes


def numbers(part: Any) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", json.dumps(part))]


def test_only_what_may_go_out_goes_out(people: DataFrame, tmp_path: Path) -> None:
    made = sparkanon.anonymize(people, policy(tmp_path))
    text = (tmp_path / "release" / "_sparkanon.json").read_text()
    reported = json.loads(text)
    assert set(reported) == PUBLIC
    assert "ssn" not in text
    assert set(reported["columns"]) == {"a", "b", "ill"}
    for private in ("fingerprint", "seed", "policy_hash", "class_sizes", "seconds", "runs"):
        assert private not in text, private
    assert ROWS not in numbers(reported), "how many rows were dropped would follow"
    private = {(m.measure, m.column): m.value for m in made.measures}
    assert private["uniqueness", "b"] == pytest.approx(4 / 397)
    assert ("uniqueness", "b") not in {(m["measure"], m["column"]) for m in reported["measures"]}
    for one in reported["measures"]:
        assert one["value"] == three_digits(one["value"])
        if one["measure"] in SHARES:
            assert one["value"] * 397 >= 5 - 0.02


def test_shares_are_rounded_up_to_groups_of_k() -> None:
    assert coarse_share(0.0, 1000, 5) == 0.005
    assert coarse_share(4 / 1000, 1000, 5) == 0.005
    assert coarse_share(5 / 1000, 1000, 5) == 0.005
    assert coarse_share(6 / 1000, 1000, 5) == 0.01
    assert coarse_share(997 / 1000, 1000, 5) == 1.0
    assert coarse_share(123_456 / 10**6, 10**6, 10) == 0.124  # never less than it is
    assert coarse_share(4 / 10**6, 10**6, 5) == 5e-6
    assert coarse_share(0.5, 3, 5) == 1.0
    # 10 of 11 leave one: whether somebody is missing to all must not show
    for records, k in ((11, 5), (101, 5), (301, 10), (1000, 7)):
        top = [coarse_share(n / records, records, k) for n in range(records - k + 1, records + 1)]
        assert set(top) == {1.0}, (records, k)
    assert [three_digits(v) for v in (0.123456, 98765.4, -0.00123456)] == [0.123, 98800, -0.00123]


def test_no_sum_of_shares_goes_out() -> None:
    """By the others, or by weights of 0, they could be computed to the last record."""
    reported = {
        name: about.terms for name, about in CATALOGUE.items() if about.outside != "private"
    }
    assert not any(set(terms) & SHARES for terms in reported.values())
    made = IlDrScore(weights=(0.0, 0.0, 1.0, 0.0))
    terms = [
        Measure(name, value) for name, value in zip(TERMS, (9.0, 9.0, 1 / 397, 0.5), strict=True)
    ]
    known = Known({Taken(one.measure): (one,) for one in terms})
    (score,) = made.finish(Given((), 5), known)
    assert score.value == 1 / 397, "one person is linked"
    assert public(score, 397, 5).value is None


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_measure_has_a_public_form(name: str) -> None:
    exact = Measure(name, 0.1234567, None, 0.1134567, 0.1334567)
    reported = public(exact, 1000, 5)
    shown = (reported.value, reported.low, reported.high)
    # exact by nature, about few, or a sum from which its terms could be computed
    if name in ("sse", "sst", "ssb", "il1s", "below_k", "il_dr_score"):
        assert shown == (None, None, None)
    elif name in SHARES:  # whole groups of five of a thousand, and never less than it is
        assert shown == (0.125, 0.115, 0.135)
    else:
        assert shown == (0.123, 0.113, 0.133)


def test_a_sweep_shows_no_more(people: DataFrame, tmp_path: Path) -> None:
    base = make_policy(policy(tmp_path))
    result = sweep(people, base, make_cells(base, {"k": [5, 7]}), tmp_path / "out")
    assert {outcome.status for outcome in result.outcomes} == {"ok"}
    for outcome in result.outcomes:
        for name, value in outcome.measures.items():
            assert value is None or value == three_digits(value), name
            if name in SHARES:
                assert value is not None
                assert value * 397 >= outcome.cell.policy.k - 0.02
    text = "".join(path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    exact = sparkanon.anonymize(people, base, dry_run=True)
    for m in exact.measures:
        if m.value is not None and m.value != three_digits(m.value):
            assert repr(m.value) not in text


def test_an_error_in_a_sweep_counts_nobody_below_k(people: DataFrame, tmp_path: Path) -> None:
    """Three records of the table have a null; who reads the map must not learn it."""
    base = make_policy(policy(tmp_path))
    result = sweep(people, base, make_cells(base, {"nulls": ["reject"]}), tmp_path / "out")
    (outcome,) = result.outcomes
    assert str(outcome.problems[0]).startswith("columns.a: 3 cells are null")
    (cell,) = json.loads((tmp_path / "out" / "sweep.json").read_text())["cells"]
    assert cell["errors"][0]["message"].startswith("fewer than 5 cells are null")
