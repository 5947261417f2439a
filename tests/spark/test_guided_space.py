"""The space `lda` on Spark: its statistics, its refusals, any layout, a real data set."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference_data import data_file

import sparkanon
from sparkanon import in_memory
from sparkanon.engine.fit.answers import ANSWERS, Source
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.table.columns import resolve
from sparkanon.groupings.mdav import Mdav
from sparkanon.needs import answered
from sparkanon.numeric.records import Column, Scale
from sparkanon.policy import make_policy
from sparkanon.spaces.needs import ClassMoments, ClassSample, GroupSize, Moments

QUASI = ("a", "b", "c")


def policy_for(tmp_path: Path, **space: Any) -> dict[str, Any]:
    return {
        "columns": dict.fromkeys(QUASI, "quasi_identifier") | {"y": "sensitive"},
        "k": 5,
        "method": {
            "space": {"name": "lda", "target": "y", "alpha": 4} | space,
            "grouping": "mdav",
        },
        "output": {"format": "parquet", "path": str(tmp_path / "out")},
        "runs": str(tmp_path / "runs"),
    }


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(12)
    y = rng.choice(["north", "south", "Zanzibar-4711"], 900)
    a = rng.normal(size=900)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + 0.1 * rng.normal(size=900) + 0.3 * (y == "north"),
            "c": rng.integers(0, 50, 900),
            "y": y,
        }
    )


@pytest.fixture(scope="module")
def table(spark: Any, frame: pd.DataFrame) -> Any:
    nulls = "case when c = 7 then null else c end as c", "if(a > 2.5, null, y) as y"
    return spark.createDataFrame(frame).selectExpr("a", "b", *nulls).cache()


def steps(score: float) -> Fraction:
    return Fraction(round(Fraction(score) * 2**20), 2**20)


def test_class_statistics_are_exact_and_those_of_numpy(
    spark: Any, table: Any, tmp_path: Path
) -> None:
    policy = make_policy(policy_for(tmp_path))
    columns = resolve(policy, table.schema)
    keyed = with_key(table.repartition(3), columns)
    facts = gather(keyed, columns, policy.k, policy.nulls, HiddenViews(keyed.sparkSession))
    moments, sample = ClassMoments("y"), ClassSample("y")
    source = Source(keyed, facts, policy.k)
    known = answered((sample,), ANSWERS, source)
    found, drawn = known[moments], known[sample]
    rows = table.toPandas()
    z = np.column_stack(
        [
            ((rows[s.name] - s.steady_mean()) / s.steady_sd()).fillna(0.0).to_numpy()
            for s in facts.statistics
        ]
    )
    parts = [z[rows["y"].to_numpy() == label] for label in rows["y"].dropna().unique()]
    ours = sorted((n, *mean) for n, mean in zip(found.counts, found.means, strict=True))
    # each score to the nearest 2^-20 and no other rounding: to the last bit
    exact = [
        (len(part), *(float(sum(map(steps, scores)) / len(part)) for scores in part.T))
        for part in parts
    ]
    assert ours == sorted(exact)
    # so a mean is off by at most half a step, and a product of scores of size 1 by two of them
    expected = sorted((len(part), *part.mean(axis=0)) for part in parts)
    assert np.array(ours) == pytest.approx(np.array(expected), rel=0, abs=2**-21)
    labelled = rows["y"].notna().to_numpy()
    labels = rows["y"][labelled].to_numpy()
    centred = z[labelled] - pd.DataFrame(z[labelled]).groupby(labels).transform("mean")
    within = centred.T.to_numpy() @ centred.to_numpy() / labelled.sum()
    assert found.within == pytest.approx(within, rel=0, abs=2**-19)
    assert len(drawn.codes) == labelled.sum()  # fewer than the sample may hold: all of them
    assert (np.bincount(drawn.codes) == found.counts).all()


def test_arrays_and_spark_give_the_same_answers(spark: Any, frame: Any, tmp_path: Path) -> None:
    policy = make_policy(policy_for(tmp_path))
    table = spark.createDataFrame(frame).selectExpr("a", "b", "if(c = 7, null, c) as c", "y")
    columns = resolve(policy, table.schema)
    keyed = with_key(table.repartition(3), columns)
    facts = gather(keyed, columns, policy.k, policy.nulls, HiddenViews(keyed.sparkSession))
    null = (frame["c"] == 7).to_numpy()
    records = tuple(
        Column(name, Scale.NUMERIC, np.where(null & (name == "c"), 0.0, frame[name]), nulls)
        for name, nulls in zip(QUASI, (null & False, null & False, null), strict=True)
    )
    codes = np.unique(frame["y"], return_inverse=True)[1]
    needs = ClassMoments("y"), ClassSample("y"), GroupSize()
    ours = answered(needs, ANSWERS, Source(keyed, facts, policy.k))
    theirs = answered(needs, in_memory.ANSWERS, in_memory.Table(records, policy.k, codes))
    for one, other in zip(ours[Moments()], theirs[Moments()], strict=True):
        assert (one.steady_mean(), one.steady_sd()) == (other.steady_mean(), other.steady_sd())
        for name in ("name", "scale", "n", "nulls", "low", "high"):
            assert getattr(one, name) == getattr(other, name)
    one, other = ours[ClassMoments("y")], theirs[ClassMoments("y")]
    assert (one.within == other.within).all()  # to the last bit
    by_class = [sorted(map(tuple, np.column_stack([m.counts, m.means]))) for m in (one, other)]
    assert by_class[0] == by_class[1]
    samples = ours[ClassSample("y")], theirs[ClassSample("y")]
    rows = [
        sorted(zip(*(column.values for column in sample.records), strict=True))
        for sample in samples
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == len(samples[0].codes) == len(samples[1].codes) == 900
    assert ours[GroupSize()] == theirs[GroupSize()] == 5


def test_a_sample_is_drawn_only_if_alpha_is_searched_for(tmp_path: Path) -> None:
    for alpha, sampled in ((4, False), ("search", True)):
        space = make_policy(policy_for(tmp_path, alpha=alpha)).method.space
        assert (ClassSample("y") in space.needs()) == sampled


def test_the_same_release_for_any_layout_and_no_label_is_reported(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mdav, "block_rows", 300)
    policy = policy_for(tmp_path)
    found = []
    for layout in (table.coalesce(1), table.repartition(2), table.repartition(7, "c")):
        release = sparkanon.anonymize(layout, policy)
        assert release.data is not None
        found.append(Counter(map(tuple, release.data.collect())))
    assert found[0] == found[1] == found[2]
    assert release.manifest["blocks"] > 1
    assert release.manifest["fitted"] == {"alpha": 4.0, "classes": 3}
    assert release.manifest["min_class_size"] >= 5
    assert "Zanzibar" not in json.dumps(release.manifest)


def test_alpha_one_releases_what_the_euclidean_space_does(table: Any, tmp_path: Path) -> None:
    releases = []
    for space in ({"alpha": 1}, None):
        policy = policy_for(tmp_path, **(space or {}))
        if space is None:
            policy["method"]["space"] = "euclidean"
        data = sparkanon.anonymize(table, policy).data
        assert data is not None
        releases.append(Counter(map(tuple, data.collect())))
    assert releases[0] == releases[1]


@pytest.mark.parametrize(
    ("target", "change", "error", "message"),
    [
        ("nobody", {}, sparkanon.PolicyError, "'nobody' is not in the policy"),
        ("a", {}, sparkanon.PolicyError, "'a' is quasi_identifier"),
        ("y", {"y": "'x'"}, sparkanon.InputError, "has one class"),
        ("y", {"y": "cast(null as string)"}, sparkanon.InputError, "has no class"),
        ("y", {"y": "cast(a as string)"}, sparkanon.InputError, "more than 100 classes"),
    ],
)
def test_targets_without_classes_are_refused(
    table: Any, tmp_path: Path, target: str, change: dict[str, str], error: Any, message: str
) -> None:
    changed = [f"{change.get(name, name)} as {name}" for name in table.columns]
    with pytest.raises(error) as caught:
        sparkanon.anonymize(table.selectExpr(*changed), policy_for(tmp_path, target=target))
    (problem,) = caught.value.problems
    assert problem.path == "method.space.target"
    assert message in problem.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_breast_cancer_end_to_end(spark: Any, tmp_path: Path) -> None:
    path = data_file("breast_cancer_wisconsin.csv")
    table = spark.read.csv(str(path), header=True, inferSchema=True)
    *quasi, target = table.columns[1:]
    base = policy_for(tmp_path) | {
        "columns": {table.columns[0]: "identifier", target: "target"}
        | {name: {"role": "quasi_identifier", "as": "double"} for name in quasi},
        "k": 20,
        "audit": {"take": ["linkage_masked_to_original"]},
    }
    found = {}
    for alpha in (1, 16, "search"):
        policy = base | {"method": {"space": {"name": "lda", "target": target, "alpha": alpha}}}
        release = sparkanon.anonymize(table, policy)
        assert release.manifest["min_class_size"] >= 20
        rows = release.data.toPandas()
        # how pure classes are: the share of records in the larger class of their group
        counts = rows.groupby([*quasi, target], dropna=False).size()
        pure = counts.groupby(level=quasi, dropna=False).max().sum() / len(rows)
        found[alpha] = pure, {m.measure: m.value for m in release.measures if not m.column}
    assert found[16][0] > found[1][0]  # groups mix the classes less
    assert found[16][1]["il"] > found[1][1]["il"]  # and that has its price
    assert found["search"][0] >= found[1][0]
