"""The attacker is the one who measures: a sample must not pass what the truth would not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.engine.pipeline import RefusedError
from sparkanon.engine.runs.gates import check_gates
from sparkanon.engine.table.sample_data import people
from sparkanon.measures import Measure
from sparkanon.policy import make_policy

COLUMNS = {"age": "quasi_identifier", "income": "quasi_identifier"}


def gate(limit: str, value: float, low: float | None, high: float | None) -> bool:
    policy = make_policy({"columns": COLUMNS, "k": 5, "gates": {limit: 0.12}})
    measure = limit.partition("_")[2]
    found = [Measure("min_class_size", 5.0), Measure(measure, value, None, low, high)]
    k, asked = check_gates(policy, found)
    assert k.passed
    assert asked.value == value
    return asked.passed


def test_limits_are_held_against_the_bad_end() -> None:
    assert gate("max_homogeneous", 0.1, None, None)
    assert not gate("max_homogeneous", 0.1, 0.018, 0.404)
    assert gate("max_homogeneous", 0.1, 0.09, 0.119)
    assert gate("min_l_entropy", 0.2, None, None)
    assert not gate("min_l_entropy", 0.2, 0.1, 0.3)
    assert gate("min_l_entropy", 0.2, 0.13, 0.3)


def test_the_last_digits_of_a_sum_decide_nothing() -> None:
    """They vary with the order of adding: a thousand times a fifth gave 0.19999999999999962."""
    for digits in (-1e-12, 0.0, 1e-12):
        assert gate("max_homogeneous", 0.12 * (1 + digits), None, None)
        assert gate("min_l_entropy", 0.12 * (1 + digits), None, None)
    assert not gate("max_homogeneous", 0.12 * (1 + 1e-8), None, None)
    assert not gate("min_l_entropy", 0.12 * (1 - 1e-8), None, None)


@pytest.mark.parametrize("targets", [1, 2, 10, None])
def test_no_sample_publishes_what_the_truth_refuses(
    spark: SparkSession, tmp_path: Path, targets: int | None
) -> None:
    audit = {} if targets is None else {"targets": targets}
    policy = {
        "columns": COLUMNS,
        "unlisted": "drop",
        "k": 5,
        "method": {"grouping": "mdav"},
        "gates": {"max_linkage_masked_to_original": 0.12},
        "audit": audit,
        "seed": {"file": seed_file(tmp_path)},
    }
    with pytest.raises(RefusedError, match="linkage") as refused:
        sparkanon.anonymize(people(spark, 2000), policy)
    if targets is None:
        (one,) = (g for g in refused.value.release.gates if g.gate.startswith("max_"))
        assert one.value is not None
        assert one.value > 0.12
