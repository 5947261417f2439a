"""The hybrid release from end to end: moments, types, the pairing, audits, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparkanon
from sparkanon.engine.audit import audit
from sparkanon.engine.table.sample_data import people

QUASI = ("age", "income", "birthday", "height_cm", "commute_km")


def policy_for(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    columns = {"person_id": "identifier", "diagnosis": "sensitive"}
    return {
        "columns": columns | dict.fromkeys(QUASI, "quasi_identifier"),
        "output": {"format": "parquet", "path": str(tmp_path / "release")},
        "unlisted": "drop",
        "k": 10,
        "method": {"grouping": "mdav", "release": "hybrid"},
        "runs": str(tmp_path / "runs"),
        "private": {"path": str(tmp_path / "pairs")},
    } | changes


@pytest.fixture(scope="module")
def table(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = str(tmp_path_factory.mktemp("people") / "people.parquet")
    people(spark, 2000, partitions=2).write.parquet(path)
    return spark.read.parquet(path)


def test_groups_keep_their_moments_and_nothing_private_leaves(
    spark: Any, table: Any, tmp_path: Path
) -> None:
    release = sparkanon.anonymize(table, policy_for(tmp_path), spark=spark)
    published = spark.read.parquet(str(tmp_path / "release"))
    assert sorted(published.columns) == sorted([*QUASI, "diagnosis"])
    assert [f for f in published.schema if f.name in QUASI] == [
        f for f in table.schema if f.name in QUASI
    ]
    files = [path for path in (tmp_path / "release").rglob("*") if path.is_file()]
    assert not any(b"__sparkanon" in path.read_bytes() for path in files)
    pairs = spark.read.parquet(str(tmp_path / "pairs")).toPandas()
    sizes = pairs.groupby("g").size()
    assert release.manifest["min_class_size"] == sizes.min() >= 10
    place = {name: i for i, name in enumerate(QUASI)}
    height = [pairs[f"{side}{place['height_cm']}"].astype(float) for side in "xz"]
    ages = [pairs[f"{side}{place['age']}"].astype(float) for side in "xz"]
    whole = 0
    for at in pairs.groupby("g").groups.values():
        x, z = (np.array([height[s][at], ages[s][at]]) for s in (0, 1))
        if np.isnan(x).any():
            continue
        whole += 1
        assert z[0].mean() == pytest.approx(x[0].mean())
        assert z[0].var() == pytest.approx(x[0].var())
        assert z[1].mean() == pytest.approx(x[1].mean(), abs=0.5)  # ages are rounded
    assert whole > 50
    assert (height[0] == height[1]).mean() < 0.1


def test_it_is_measured_and_audited_as_groups(spark: Any, table: Any, tmp_path: Path) -> None:
    policy = policy_for(tmp_path, audit={"take": "all"}, gates={"min_k": 10})
    release = sparkanon.anonymize(table, policy, spark=spark)
    done = audit(table, None, policy, spark=spark)
    own, reported = (
        {m.measure: m.value for m in made.measures if m.column is None} for made in (release, done)
    )
    assert reported["min_class_size"] == own["min_class_size"] >= 10
    assert reported["il"] == pytest.approx(own["il"])
    assert own["linkage_masked_to_original"] < 0.3
    assert own["uniqueness"] > 0.9  # rows differ, groups hide them


def test_types_hold_what_they_can(spark: Any, tmp_path: Path) -> None:
    awkward = spark.range(400).selectExpr(
        "cast(id % 2 * 127 as byte) b",
        "cast(id % 2 * 99.9 as decimal(3,1)) d",
        "id % 2 = 0 f",
        "cast(id as double) u",
        "cast(id as int) i",
    )
    columns = dict.fromkeys("bdfu", "quasi_identifier")
    columns["i"] = {"role": "quasi_identifier", "as": "double"}
    release = sparkanon.anonymize(
        awkward, policy_for(tmp_path, columns=columns, k=40, private=None), spark=spark
    )
    assert dict(release.data.dtypes) == dict(awkward.dtypes) | {"i": "double"}
    assert release.data.count() == 400
    i = np.array([row["i"] for row in release.data.select("i").collect()])
    assert i.mean() == pytest.approx(199.5)


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_only_numbers_have_covariances(spark: Any, table: Any, tmp_path: Path, kind: str) -> None:
    policy = policy_for(tmp_path)
    policy["columns"] |= {"age": {"role": "quasi_identifier", "type": kind}}
    policy["method"] |= {"space": "gower"}
    with pytest.raises(sparkanon.PolicyError) as caught:
        sparkanon.anonymize(table, policy, spark=spark)
    (problem,) = caught.value.problems
    assert problem.path == "columns.age"
    assert f"is {kind}, which release 'hybrid' does not take" in problem.message
