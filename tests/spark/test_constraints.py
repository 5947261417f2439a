"""l-diversity and t-closeness from the outside: every grouping keeps them, nothing slips by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.engine.count import sensitive
from sparkanon.engine.mask import stage
from sparkanon.engine.mask.masking import Masking
from sparkanon.engine.verify.constraints import Constraints
from sparkanon.errors import InputError, PolicyError, VerificationError

COLUMNS = {"x": "quasi_identifier", "y": "quasi_identifier", "illness": "sensitive"}
L_3 = {"l_diversity": 3}


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(5)
    n = 600
    x = rng.normal(size=n)
    # the illness goes with x, so that groups of neighbours are uniform
    illness = np.clip(np.floor(x + 0.7 * rng.normal(size=n)) + 3, 0, 6).astype(int)
    frame = pd.DataFrame({"x": x, "y": rng.normal(size=n), "illness": illness})
    frame["illness"] = [f"i{code}" for code in frame["illness"]]
    return spark.createDataFrame(frame).repartition(3).cache()


def release(
    people: DataFrame, constraints: dict[str, Any], **method: Any
) -> sparkanon.engine.pipeline.Release:
    policy = {"columns": COLUMNS, "k": 4, "method": method, "constraints": constraints}
    return sparkanon.anonymize(people, policy, spark=people.sparkSession)


def value(made: sparkanon.engine.pipeline.Release, name: str) -> float:
    (found,) = {m.value for m in made.measures if m.measure == name}
    assert found is not None
    return found


def worst_class(table: pd.DataFrame) -> dict[str, float]:
    """By the definitions: values of a class, exp of their entropy, half the sum of differences."""
    overall = table["illness"].value_counts(normalize=True)
    shares = (
        table.groupby(["x", "y"])["illness"].value_counts(normalize=True).unstack(fill_value=0)
    )
    logs = np.log(shares.where(shares > 0, 1.0))
    return {
        "l_distinct": float((shares > 0).sum(axis=1).min()),
        "l_entropy": float(np.exp(-(shares * logs).sum(axis=1)).min()),
        "t_closeness": float((shares - overall).abs().sum(axis=1).max() / 2),
    }


@pytest.mark.parametrize("grouping", ["refined", "mdav", "mondrian"])
@pytest.mark.parametrize(
    ("constraints", "measure", "kept"),
    [
        (L_3, "l_distinct", lambda v: v >= 3),
        ({"l_diversity": {"l": 2.5, "kind": "entropy"}}, "l_entropy", lambda v: v >= 2.5),
        ({"t_closeness": 0.4}, "t_closeness", lambda v: v <= 0.4),
    ],
)
def test_every_class_keeps_the_constraint(
    people: DataFrame, grouping: str, constraints: dict[str, Any], measure: str, kept: Any
) -> None:
    made = release(people, constraints, grouping=grouping)
    assert kept(value(made, measure)), "as the manifest says"
    assert made.data is not None
    table = made.data.toPandas()
    worst = worst_class(table)[measure]
    assert kept(worst), "as pandas counts"
    assert worst == pytest.approx(value(made, measure), abs=1e-9)
    assert table.groupby(["x", "y"]).size().min() >= 4
    assert table.groupby(["x", "y"]).ngroups > 4, "more was joined than had to be"


def test_without_constraints_the_same_groups_would_not_keep_it(people: DataFrame) -> None:
    made = sparkanon.anonymize(
        people,
        {"columns": COLUMNS, "k": 4, "audit": {"take": ["l_distinct"]}},
        spark=people.sparkSession,
    )
    assert value(made, "l_distinct") < 3


def test_groups_of_a_permuted_release_keep_it_too(
    people: DataFrame, tmp_path: Path, stager: str
) -> None:
    """The release does not show its groups; the pairing that is kept does."""
    policy = {"columns": COLUMNS, "k": 4, "method": {"release": "permute"}, "constraints": L_3}
    places = {"private": {"path": str(tmp_path / "pairs")}, "runs": str(tmp_path / "runs")}
    sink = {"format": "parquet", "path": str(tmp_path / "out")}
    made = sparkanon.anonymize(people, policy | places | {"output": sink})
    groups = people.sparkSession.read.parquet(str(tmp_path / "pairs")).toPandas().groupby("g")
    assert groups["s0"].nunique().min() == value(made, "l_distinct") >= 3
    assert groups.size().min() >= 4
    assert groups.ngroups > 4


def test_a_grouping_that_breaks_it_is_not_published(
    people: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernels' word is not taken: a mask that does not merge is caught on the staged table."""

    def careless(**known: Any) -> Masking:
        return Masking(**known | {"constraints": Constraints()})

    monkeypatch.setattr(stage, "Masking", careless)
    with pytest.raises(VerificationError, match=r"l_distinct of 'illness' is 1, the limit 3"):
        release(people, L_3, grouping="mdav")


def test_partitions_do_not_matter(people: DataFrame) -> None:
    def rows(table: DataFrame) -> list[Any]:
        made = release(table, {"l_diversity": 3, "t_closeness": 0.5})
        assert made.data is not None
        return sorted(map(tuple, made.data.collect()))

    assert rows(people) == rows(people.repartition(1)) == rows(people.repartition(7))


def test_numbers_are_close_by_rank(people: DataFrame) -> None:
    salaries = people.withColumn("salary", people["illness"].substr(2, 1).cast("int") * 1000)
    columns = COLUMNS | {"salary": "sensitive", "illness": "keep"}
    policy = {"columns": columns, "k": 4, "constraints": {"t_closeness": 0.25}}
    made = sparkanon.anonymize(salaries, policy, spark=people.sparkSession)
    assert made.data is not None
    table = made.data.toPandas()
    overall = table["salary"].value_counts(normalize=True).sort_index()
    classes = table.groupby(["x", "y"])["salary"].value_counts(normalize=True)
    gap = classes.unstack(fill_value=0) - overall
    by_rank = gap.cumsum(axis=1).abs().sum(axis=1).max() / (len(overall) - 1)
    assert by_rank <= 0.25, "as pandas counts"
    assert by_rank == pytest.approx(value(made, "t_closeness"), abs=1e-9)
    assert gap.abs().sum(axis=1).max() / 2 > 0.25, "as categories they would not be close"


def test_blocks_that_cannot_keep_it_are_joined(
    people: DataFrame, monkeypatch: pytest.MonkeyPatch, stager: str
) -> None:
    """Blocks follow x, and so do the illnesses: none of eight blocks is like the whole table."""
    monkeypatch.setattr("sparkanon.groupings.mdav.Mdav.block_rows", 70)
    made = release(people, {"t_closeness": 0.25}, grouping="mdav")
    assert value(made, "t_closeness") <= 0.25
    assert made.manifest["blocks"] < 8


def test_more_values_than_there_are(people: DataFrame) -> None:
    with pytest.raises(InputError, match=r"'illness' has only 7 different values"):
        release(people, {"l_diversity": 8})


def test_what_even_one_group_does_not_keep(people: DataFrame) -> None:
    with pytest.raises(InputError, match=r"even if all records are one group"):
        release(people, {"l_diversity": {"l": 6.9, "kind": "entropy"}})


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"l_diversity": 1}, r"constraints\.l_diversity\.l: must be greater than 1"),
        ({"l_diversity": 2.5}, r"must be a whole number for distinct"),
        ({"t_closeness": 2}, r"constraints\.t_closeness\.t: must be less than or equal to 1"),
        ({"l_diversity": {"l": 2, "columns": ["x"]}}, r"'x' is not sensitive"),
        ({"k_map": 2}, r"constraints\.k_map: is not a known option"),
    ],
)
def test_constraints_that_mean_nothing(
    people: DataFrame, constraints: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        release(people, constraints)


def test_ranges_of_too_many_numbers_are_even_whatever_the_partitions(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensitive, "MOST_VALUES", 50)
    numbers = spark.range(8000).selectExpr("cast(id * id as double) as v")
    found = [sensitive.sensitive(numbers.repartition(parts), "v") for parts in (1, 7)]
    one, seven = found
    assert one.coding.values == seven.coding.values
    assert (one.counts == seven.counts).all()
    assert len(one.coding.values) == 50
    # 8 of 400 sampled numbers a range, and 20 values between two of those
    assert abs(one.counts[:-1] - 160).max() < 120
    assert abs(np.cumsum(one.counts[:-1]) - 160 * np.arange(1, 51)).max() < 120


@pytest.mark.parametrize("kind", ["double", "string"])
def test_a_column_of_many_values_is_as_diverse_as_it_is(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(sensitive, "MOST_VALUES", 20)
    numbers = "cast(id as double) as x", "cast(id * 7 % 400 as double) as y"
    people = spark.range(400).selectExpr(*numbers, f"cast(id as {kind}) as illness")
    made = release(people, {"l_diversity": {"l": 4, "kind": "entropy"}}, grouping="mdav")
    # nobody shares an illness: every group of four has four, and none is joined with another
    assert made.data is not None
    assert made.data.groupBy("x", "y").count().count() == 100
    assert value(made, "l_entropy") == 4
