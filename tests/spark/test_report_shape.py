"""The example that the tests of the report draw has the shape of what real runs write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from report_example import example_audit, example_run
from seeds import seed_file

import sparkanon
from sparkanon.engine.audit.run import FailedAuditError
from sparkanon.engine.sweep.sweep import sweep
from sparkanon.engine.table.sample_data import people
from sparkanon.policy import make_policy
from sparkanon.policy.grid import make_cells
from sparkanon.report import write_report

ROWS = 300
NAMES = ("seconds", "versions", "fitted", "varied", "measures")  # whose keys are names
LOOSE = {"max_il": 100, "max_linkage_original_to_masked": 1, "max_t_closeness": 1}


def shape(part: Any, path: str = "") -> set[str]:
    """Every path through a JSON value, with the type at its end; all rows of a list together."""
    if isinstance(part, Mapping):
        if path.endswith(".policy"):
            return {f"{path}: as `Policy.to_dict` writes it"} if is_a_policy(part) else {path}
        if path.rpartition(".")[2] in NAMES:
            return {f"{path}: {inner}" for value in part.values() for inner in shape(value)}
        found = {f"{path}: mapping"}
        return found.union(*(shape(value, f"{path}.{key}") for key, value in part.items()))
    if isinstance(part, list):
        return {f"{path}: list"}.union(*(shape(row, f"{path}[]") for row in part))
    kinds = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text"}
    return {f"{path}: {kinds[type(part)]}"}


def is_a_policy(part: Mapping[str, Any]) -> bool:
    return bool(make_policy(dict(part)).to_dict() == part)


def taken(run: Mapping[str, Any]) -> set[tuple[Any, ...]]:
    """The measures with their columns, and which have an interval."""
    ends = ("value", "low", "high")
    return {
        (m["measure"], m["column"], *(m[end] is not None for end in ends)) for m in run["measures"]
    }


def without(run: dict[str, Any], *parts: str) -> dict[str, Any]:
    return {key: part for key, part in run.items() if key not in parts}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return people(spark, ROWS).drop("survey_weight").cache()


def policy_for(folder: Path, **changes: Any) -> dict[str, Any]:
    """That of the example, for the sample table."""
    given: dict[str, Any] = example_run()["policy"] | {
        "gates": LOOSE,
        "seed": {"file": seed_file(folder)},
        "runs": str(folder / "runs"),
    }
    given["audit"] = given["audit"] | {"targets": ROWS // 3}
    return without(given, "input") | changes


def test_a_run_of_anonymize(table: DataFrame, tmp_path: Path) -> None:
    sink = {"format": "parquet", "path": str(tmp_path / "out")}
    made = sparkanon.anonymize(table, policy_for(tmp_path, output=sink))
    assert made.manifest_path is not None
    written = json.loads(made.manifest_path.with_name("report.json").read_text())
    example = example_run()
    assert taken(written) == taken(example)
    # nothing was left out here; an audit shows what a row of that list is
    assert shape(without(written, "left_out")) == shape(without(example, "left_out", "sweep"))
    assert write_report(made.manifest_path.parent).is_file()


def test_an_audit_of_another_tools_release(table: DataFrame, tmp_path: Path) -> None:
    columns = policy_for(tmp_path)["columns"]
    copy = table.selectExpr(*(c for c in columns if c != "name"), "region as postcode")
    given = policy_for(tmp_path, columns=columns | {"rent": "quasi_identifier"})
    with pytest.raises(FailedAuditError) as failed:  # everybody is alone in a class
        sparkanon.audit(table, copy, given, key="person_id")
    folder = failed.value.audit.folder
    assert folder is not None
    written = json.loads((folder / "report.json").read_text())
    assert taken(written) == taken(example_audit())
    assert shape(written) == shape(example_audit())
    assert write_report(folder).is_file()


def test_a_sweep(table: DataFrame, tmp_path: Path) -> None:
    policy = make_policy(policy_for(tmp_path, audit={}, gates={}))
    sweep(table, policy, make_cells(policy, {"k": [5, ROWS + 1]}), tmp_path / "map")
    written = json.loads((tmp_path / "map" / "report.json").read_text())
    assert shape(written["sweep"]) == shape(example_run()["sweep"])
    assert write_report(tmp_path / "map").is_file()
