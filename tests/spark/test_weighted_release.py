"""Weights through the whole pipeline: by hand, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sparkanon
from sparkanon.engine.audit import audit

# two far groups of three: ages 10, 20, 60 and 1010, 1020, 1060
ROWS = [(age + far, age % 3, "abc"[i % 3], w) for far in (0, 1000)
        for i, (age, w) in enumerate([(10, 1.0), (20, 2.0), (60, 5.0)])]  # fmt: skip


def policy_for(tmp_path: Path, **columns: Any) -> dict[str, Any]:
    return {
        "columns": {
            "age": {"role": "quasi_identifier", "as": "double"},
            "grade": {"role": "quasi_identifier", "type": "ordinal"},
            "town": "quasi_identifier",
            "w": "weight",
        }
        | columns,
        "k": 3,
        "method": {"space": {"name": "gower", "weights": {"age": 100.0}}, "grouping": "mdav"},
        "output": {"format": "parquet", "path": str(tmp_path / "out")},
        "runs": str(tmp_path / "runs"),
    }


def table(spark: Any, weights: list[Any], kind: str = "double") -> Any:
    rows = [(*row[:3], w) for row, w in zip(ROWS, weights, strict=True)]
    return spark.createDataFrame(rows, f"age int, grade int, town string, w {kind}")


def test_weighted_centres_by_hand(spark: Any, tmp_path: Path) -> None:
    # grades of 10, 20, 60 are 1, 2, 0; the last weighs more than half
    data = table(spark, [row[3] for row in ROWS])
    release = sparkanon.anonymize(data, policy_for(tmp_path), spark=spark)
    published = sorted(map(tuple, release.data.collect()))
    mean = (1 * 10 + 2 * 20 + 5 * 60) / 8
    assert published == [
        (mean + far, 0, "c", weight) for far in (0.0, 1000.0) for weight in (1.0, 2.0, 5.0)
    ]
    # information loss is that of the released values: every record counts once
    squares = 2 * sum((age - mean) ** 2 for age in (10, 20, 60))
    found = {(m.measure, m.column): m.value for m in release.measures}
    ages = [row[0] for row in ROWS]
    spread = sum((age - sum(ages) / 6) ** 2 for age in ages)
    assert found["il", "age"] == pytest.approx(100 * squares / spread, rel=1e-4)
    done = audit(data, None, policy_for(tmp_path), spark=spark)
    assert "weighted centres" in done.left_out["il"]


def test_weights_that_no_double_holds(spark: Any, tmp_path: Path) -> None:
    data = table(spark, [2**53 + 1, 2**54 + 2, 5 * 2**53 + 5] * 2, "bigint")
    release = sparkanon.anonymize(data, policy_for(tmp_path), spark=spark)
    mean = (1 * 10 + 2 * 20 + 5 * 60) / 8
    found = {row["age"] for row in release.data.collect()}
    assert sorted(found) == pytest.approx([mean, mean + 1000], rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "kind", "message"),
    [
        ([1.0, 2.0, 5.0, -7.25, 2.0, 5.0], "double", "1 weight is negative"),
        ([1.0, None, 5.0, None, 2.0, 5.0], "double", "2 weights are null, NaN or infinite"),
        ([1.0, float("nan"), float("inf"), 1.0, 2.0, 5.0], "float", "2 weights are null, NaN"),
        ([0] * 6, "int", "every weight is 0"),
        (list("123456"), "string", "is string; a weight must be a number"),
    ],
)
def test_weights_that_are_none_are_refused(
    spark: Any, tmp_path: Path, weights: list[Any], kind: str, message: str
) -> None:
    with pytest.raises(sparkanon.InputError) as caught:
        sparkanon.anonymize(table(spark, weights, kind), policy_for(tmp_path), spark=spark)
    (problem,) = caught.value.problems
    assert problem.path == "columns.w"
    assert message in problem.message
    assert "7.25" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_one_weight_is_enough(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(sparkanon.PolicyError) as caught:
        sparkanon.anonymize(table(spark, [1.0] * 6), policy_for(tmp_path, w2="weight"))
    assert caught.value.problems[0].path == "columns.w2"
