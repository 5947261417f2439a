"""The promises of the design, each with a test that breaks when the promise does."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from seeds import seed_file, seed_text

import sparkanon
from sparkanon.engine import pipeline
from sparkanon.engine.cut import cuttings
from sparkanon.engine.table.sample_data import people
from sparkanon.errors import InputError, VerificationError
from sparkanon.groupings.mdav import Mdav
from sparkanon.groupings.refined import Refined
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels, Records
from sparkanon.policy import make_policy
from sparkanon.registry import spec
from sparkanon.releases import Grouped, Published, TakenFrom
from sparkanon.releases.hybrid import Hybrid
from sparkanon.releases.permute import Permute

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

QUASI = ("age", "income", "birthday", "height_cm", "commute_km")
COLUMNS = {
    "person_id": "identifier",
    "diagnosis": "sensitive",
    "wealth": "keep",
    **dict.fromkeys(QUASI, "quasi_identifier"),
}


def policy_for(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    return {
        "columns": COLUMNS,
        "output": {"format": "parquet", "path": str(tmp_path / "release")},
        "k": 4,
        "method": {"grouping": "mdav"},  # quick
        "unlisted": "drop",
        "runs": str(tmp_path / "runs"),
        "seed": {"file": seed_file(tmp_path)},
    } | changes


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("people") / "people.parquet")
    people(spark, 3000, partitions=3).write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut 3,000 rows into several blocks, as 3,000,000 would be."""
    for grouping in (Refined, Mdav):
        monkeypatch.setattr(grouping, "block_rows", 500)


def rows_of(data: DataFrame | None) -> Counter[tuple[Any, ...]]:
    assert data is not None
    return Counter(tuple(row) for row in data.collect())


def smallest_class(data: DataFrame | None, quasi: tuple[str, ...] = QUASI) -> int:
    assert data is not None
    return min(Counter(tuple(r[q] for q in quasi) for r in data.collect()).values())


# 1. k holds


@pytest.mark.parametrize("k", [2, 50, 3000])
def test_k_holds_on_what_was_published(
    spark: SparkSession, table: DataFrame, tmp_path: Path, k: int, small_blocks: None
) -> None:
    release = sparkanon.anonymize(table, policy_for(tmp_path, k=k))
    published = spark.read.parquet(str(tmp_path / "release"))
    assert published.count() == 3000
    assert smallest_class(published) >= k
    assert release.manifest["min_class_size"] == smallest_class(published)
    assert release.manifest["class_sizes"]["records"] == 3000


@spec
class Careless:
    """Groups that are one record too small."""

    key: ClassVar[str] = "careless"
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    block_rows: ClassVar[int] = 10_000

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        return (np.arange(points.n) // (k - 1)).astype(np.int32)


class Mixing(Permute):
    """Takes cells from anywhere in the block, not from the group."""

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        return tuple(TakenFrom(groups.rng.permutation(len(groups.labels))) for _ in records)


@pytest.mark.parametrize(
    "method",
    [
        {"grouping": Careless()},
        {"grouping": Careless(), "release": Permute()},
        {"grouping": Careless(), "release": Hybrid()},
        {"release": Mixing()},
    ],
    ids=["classes", "groups drawn from", "groups made anew", "cells of other groups"],
)
def test_a_kernel_that_breaks_k_is_caught_on_the_staged_table(
    table: DataFrame, tmp_path: Path, method: dict[str, Any], stager: str
) -> None:
    policy = make_policy(policy_for(tmp_path))
    broken = policy.model_copy(update={"method": policy.method.model_copy(update=method)})
    with pytest.raises(VerificationError) as caught:
        sparkanon.anonymize(table, broken)
    assert caught.value.exit_code == 3
    assert not (tmp_path / "release").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["seed.txt"]


# 2. same data, policy and seed: same release


@pytest.mark.parametrize(
    "release", ["centroid", "permute", pytest.param("hybrid", marks=pytest.mark.slow)]
)
def test_the_same_release_for_any_layout_and_plan(
    spark: SparkSession,
    table: DataFrame,
    tmp_path: Path,
    release: str,
    small_blocks: None,
    stager: str,
) -> None:
    grouping = "refined" if release == "centroid" else "mdav"
    policy = policy_for(tmp_path, method={"grouping": grouping, "release": release})
    first = sparkanon.anonymize(table, policy)
    expected = rows_of(first.data)
    assert first.manifest["blocks"] > 4
    layouts = {
        "1 partition": table.coalesce(1),
        "2 partitions": table.repartition(2),
        "7 partitions": table.repartition(7, "income"),
        "shuffled": table.orderBy(F.xxhash64("person_id")).coalesce(1),
    }
    for name, layout in layouts.items():
        again = sparkanon.anonymize(layout, policy)
        assert rows_of(again.data) == expected, name
        assert again.manifest["input"] == first.manifest["input"]
    for aqe in ("false", "true"):
        spark.conf.set("spark.sql.adaptive.enabled", aqe)
        again = sparkanon.anonymize(table.repartition(5), policy)
        assert rows_of(again.data) == expected, f"AQE {aqe}"


def test_another_seed_is_another_draw(table: DataFrame, tmp_path: Path) -> None:
    policy = policy_for(tmp_path, method={"grouping": "mdav", "release": "permute"})
    one = rows_of(sparkanon.anonymize(table, policy).data)
    seed_file(tmp_path, "another seed")
    two = rows_of(sparkanon.anonymize(table, policy).data)
    assert sum((one & two).values()) < 1500


# 3. nothing leaks sideways


def test_nothing_leaks_sideways(
    spark: SparkSession, table: DataFrame, tmp_path: Path, small_blocks: None
) -> None:
    marked = table.withColumn("wealth", F.lit("Zanzibar-4711"))
    release = sparkanon.anonymize(marked, policy_for(tmp_path))
    assert release.data is not None
    assert set(release.data.columns) == {*QUASI, "diagnosis", "wealth"}
    public = (tmp_path / "release" / "_sparkanon.json").read_text()
    assert "seed.txt" not in public
    assert "fingerprint" not in public
    reported = json.dumps(release.manifest) + public
    assert release.manifest_path is not None
    reported += release.manifest_path.read_text()
    assert "Zanzibar" not in reported
    assert seed_text() not in reported
    for row in table.filter("income > 1000").select("income", "birthday").take(50):
        assert str(row["income"]) not in reported
        assert str(row["birthday"]) not in reported
    assert list(tmp_path.glob(".sparkanon*")) == []


def plans(spark: SparkSession) -> dict[int, str]:
    """What Spark's pages and event logs keep of every query, by its number.

    Of a long session they keep the last thousand, so places in this list say nothing.
    """
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    kept = spark._jsparkSession.sharedState().statusStore().executionsList()
    some = (kept.apply(i) for i in range(kept.size()))
    return {one.executionId(): one.physicalPlanDescription() for one in some}


def test_no_cell_stands_in_a_plan(
    spark: SparkSession, table: DataFrame, tmp_path: Path, small_blocks: None, stager: str
) -> None:
    some = "if(person_id % 3 = 0, null, if(person_id % 3 = 1, '{}', '{}'))"
    town = some.format("Zanz" + "ibar", "Timb" + "uktu")
    columns = COLUMNS | dict.fromkeys(("town", "sum"), "quasi_identifier")
    marked = table.withColumns(
        {"town": F.expr(town), "sum": F.expr("if(age > 40, null, 471147114)")}
    )
    marked.write.parquet(str(tmp_path / "marked"))
    earlier = max(plans(spark))
    release = sparkanon.anonymize(
        spark.read.parquet(str(tmp_path / "marked")),
        policy_for(
            tmp_path,
            columns=columns,
            nulls="impute",
            method={"space": {"name": "gower", "weights": {"town": 9.0}}, "grouping": "mdav"},
        ),
    )
    assert release.manifest["blocks"] > 2
    own = {number: plan for number, plan in plans(spark).items() if number > earlier}
    assert min(own) == earlier + 1, "Spark has forgotten the first of them"
    reported = "".join(own.values())
    assert "xxhash64(" in reported
    assert "MapInArrow" in reported, "the plan of the masking itself"
    for cell in ("Zanzibar", "Timbuktu", "471147114"):  # longer than any number of a column
        assert cell not in reported


def test_the_order_of_rows_tells_nothing(
    spark: SparkSession, table: DataFrame, tmp_path: Path, small_blocks: None, stager: str
) -> None:
    place = F.row_number().over(Window.orderBy("person_id"))
    numbered = table.withColumn("wealth", place)  # travels untouched: the row it came from
    release = sparkanon.anonymize(numbered, policy_for(tmp_path))
    assert release.data is not None
    total = 0
    for path in sorted((tmp_path / "release").glob("part-*.parquet")):
        rows = spark.read.parquet(str(path)).collect()
        order = np.array([row["wealth"] for row in rows])
        ranks = np.argsort(np.argsort(order))
        assert abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) < 0.2
        looks = [tuple(row[q] for q in QUASI) for row in rows]
        classes = [look for look, _ in groupby(looks)]
        assert len(classes) == len(set(looks))  # who looks the same stands together, all of them
        # and neighbouring classes are no neighbours in the table
        ages = np.array([look[QUASI.index("age")] for look in classes], dtype=float)
        assert abs(np.corrcoef(ages[1:], ages[:-1])[0, 1]) < 0.25
        total += len(rows)
    assert total == 3000


# 4. atomic and idempotent


def files_of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("at", ["stage", "verify", "publish"])
def test_a_crash_leaves_the_old_release(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    policy = policy_for(tmp_path)
    sparkanon.anonymize(table, policy)
    old = files_of(tmp_path / "release")

    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(pipeline, at, crash)
    with pytest.raises(RuntimeError):
        sparkanon.anonymize(table, policy | {"k": 9})
    assert files_of(tmp_path / "release") == old
    assert list(tmp_path.glob(".sparkanon*")) == []


@pytest.mark.parametrize("release", ["centroid", "permute"])
def test_running_twice_is_running_once(
    spark: SparkSession, table: DataFrame, tmp_path: Path, release: str
) -> None:
    policy = policy_for(tmp_path, method={"grouping": "mdav", "release": release})
    once = rows_of(sparkanon.anonymize(table, policy).data)
    sparkanon.anonymize(table, policy)
    assert rows_of(spark.read.parquet(str(tmp_path / "release"))) == once


# 5. fail closed


def test_a_gate_that_fails_publishes_nothing(table: DataFrame, tmp_path: Path) -> None:
    policy = policy_for(tmp_path)
    sparkanon.anonymize(table, policy)
    old = files_of(tmp_path / "release")
    with pytest.raises(sparkanon.GateError) as caught:
        sparkanon.anonymize(table, policy | {"k": 9, "gates": {"max_il": 0.001}})
    assert caught.value.exit_code == 3
    assert caught.value.problems[0].path == "gates.max_il"
    assert files_of(tmp_path / "release") == old
    assert list(tmp_path.glob(".sparkanon*")) == []


def test_a_dry_run_measures_and_writes_nothing(table: DataFrame, tmp_path: Path) -> None:
    release = sparkanon.anonymize(table, policy_for(tmp_path), dry_run=True)
    assert release.status == release.manifest["status"] == "dry_run"
    assert release.data is None
    assert release.manifest["min_class_size"] >= 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["seed.txt"]


# 6. blocks: any tree gives a safe release


def test_a_block_that_is_too_small_is_merged_and_done_again(
    table: DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_blocks: None,
    stager: str,
) -> None:
    from sparkanon.blocks import Below, Leaf, Node, Tree

    lopsided = Node(Below("age", 18.5), Leaf(), Node(Below("age", 50.0), Leaf(), Leaf()))
    empty = Tree(Node(Below("age", -1.0), Leaf(), lopsided))
    monkeypatch.setattr(cuttings, "fit_tree", lambda *_: empty)
    release = sparkanon.anonymize(table, policy_for(tmp_path, k=60))
    assert release.manifest["blocks"] == 2
    assert release.manifest["rows_out"] == 3000
    assert smallest_class(release.data) >= 60


def test_large_trees_go_through_python_with_the_same_result(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None
) -> None:
    from sparkanon.engine.cut import assign

    columns = COLUMNS | {"region": "quasi_identifier", "sex": "quasi_identifier"}
    policy = policy_for(tmp_path, columns=columns, method={"space": "gower", "grouping": "mdav"})
    in_sql = rows_of(sparkanon.anonymize(table, policy).data)
    monkeypatch.setattr(assign, "MOST_IN_SQL", 1)
    assert rows_of(sparkanon.anonymize(table, policy).data) == in_sql


@pytest.mark.parametrize(
    "awkward",
    [
        {"age": "7"},
        {"income": "0.0D", "age": "1", "height_cm": "2.0D"},
        {"commute_km": "CASE WHEN age > 90 THEN 1.0D END"},
        {"income": "CASE WHEN age > 30 THEN 0.0D ELSE income END"},
        {"income": "CASE WHEN age = 44 THEN 1e150D WHEN age = 45 THEN -1e150D ELSE income END"},
    ],
    ids=["constant", "many constants", "nearly all null", "point mass", "huge outliers"],
)
def test_awkward_columns_still_hide_everybody(
    table: DataFrame, tmp_path: Path, awkward: dict[str, str], small_blocks: None
) -> None:
    release = sparkanon.anonymize(
        table.withColumns({c: F.expr(e) for c, e in awkward.items()}), policy_for(tmp_path)
    )
    assert smallest_class(release.data) >= 4
    assert release.manifest["rows_out"] == 3000


@pytest.mark.parametrize("huge", ["1e300D", "if(age = 44, 1.7e308D, -1.7e308D)"])
def test_a_column_without_a_finite_spread_is_refused(
    table: DataFrame, tmp_path: Path, huge: str
) -> None:
    wild = table.withColumn("income", F.expr(f"if(age in (44, 45), {huge}, income)"))
    with pytest.raises(
        InputError, match=r"columns\.income: its values lie so far apart"
    ) as reported:
        sparkanon.anonymize(wild, policy_for(tmp_path))
    assert "e300" not in str(reported.value).lower()
    assert "e308" not in str(reported.value).lower()
    assert not (tmp_path / "release").exists()


def test_a_table_of_one_value_is_cut_by_key_and_stays_as_it_is(
    spark: SparkSession, tmp_path: Path, small_blocks: None
) -> None:
    same = spark.range(3000).select(F.lit(3).alias("x"), F.lit("a").alias("y"))
    policy = policy_for(tmp_path, columns={"x": "quasi_identifier", "y": "keep"})
    release = sparkanon.anonymize(same, policy)
    assert rows_of(release.data) == Counter({(3, "a"): 3000})
    assert release.manifest["min_class_size"] == 3000
