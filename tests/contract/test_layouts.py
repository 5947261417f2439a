"""Every registered space and release: the same from any partitions and order of the rows."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from seeds import seed_file

import sparkanon
from sparkanon import in_memory
from sparkanon.engine.fit.answers import ANSWERS, Source
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.sql.hidden import hidden_views
from sparkanon.engine.table.columns import resolve
from sparkanon.needs import answered
from sparkanon.numeric.records import Column, Records, Scale
from sparkanon.policy import make_policy
from sparkanon.releases import RELEASES, Cells, Release
from sparkanon.spaces import SPACES, FittedSpace, Space

N, K = 84, 6
SCHEMA = "age int, pay double, price decimal(9,2), born date, same double, town string, ill string"
TYPES = {"town": Scale.NOMINAL}  # all others are numeric
FIRST = dt.date(2000, 1, 1)
NUMBERS: dict[str, Any] = {"town": "abc".index, "born": lambda day: (day - FIRST).days}
# What cannot be chosen without a parameter.
SPACE_OPTIONS: dict[str, dict[str, Any]] = {"lda": {"target": "ill", "alpha": 4.0}}
RELEASE_OPTIONS: dict[str, dict[str, Any]] = {"top_bottom": {"share": 0.1}}


def cells() -> list[tuple[Any, ...]]:
    """Ties, nulls, a constant column, and numbers whose sums depend on their order."""
    rng = np.random.default_rng(8)
    return [
        (
            int(rng.integers(20, 50)),
            None if i % 7 == 0 else float(rng.lognormal()),
            Decimal(int(rng.integers(0, 40))) / 4,
            FIRST + dt.timedelta(days=int(rng.integers(0, 300))),
            0.1 + 0.2,
            None if i % 11 == 0 else "abc"[int(rng.integers(0, 3))],
            ["flu", "cold", "none"][i % 3],
        )
        for i in range(N)
    ]


def laid_out(spark: SparkSession, partitions: int) -> DataFrame:
    table = spark.createDataFrame(cells(), SCHEMA)
    shuffled = table.repartition(partitions).sortWithinPartitions(F.rand(partitions))
    return shuffled.cache()


def quasi_for(scales: frozenset[Scale]) -> list[str]:
    names = [field.split()[0] for field in SCHEMA.split(", ")][:-1]
    return [name for name in names if TYPES.get(name, Scale.NUMERIC) in scales]


def policy_for(scales: frozenset[Scale], **changes: Any) -> dict[str, Any]:
    columns = dict.fromkeys(quasi_for(scales), "quasi_identifier")
    return {"columns": columns | {"ill": "sensitive"}, "unlisted": "drop", "k": K} | changes


def fitted(table: DataFrame, space: Space) -> FittedSpace:
    policy = make_policy(policy_for(space.scales, method={"space": SPACES.config(space)}))
    columns = resolve(policy, table.schema)
    keyed = with_key(table, columns)
    with hidden_views(table.sparkSession) as views:
        facts = gather(keyed, columns, K, policy.nulls, views)
        return space.fit(answered(space.needs(), ANSWERS, Source(keyed, facts, K)))


def records_of(names: list[str]) -> Records:
    """The same cells as arrays."""
    made = []
    for name in names:
        at = [field.split()[0] for field in SCHEMA.split(", ")].index(name)
        column = [row[at] for row in cells()]
        null = np.array([cell is None for cell in column])
        read = NUMBERS.get(name, float)
        values = np.array([0.0 if cell is None else float(read(cell)) for cell in column])
        made.append(Column(name, TYPES.get(name, Scale.NUMERIC), values, null))
    return tuple(made)


@pytest.mark.parametrize("key", SPACES.keys())
def test_spark_and_arrays_fit_a_space_alike(spark: SparkSession, key: str) -> None:
    space = SPACES.build({"name": key} | SPACE_OPTIONS.get(key, {}))
    one, seven = (fitted(laid_out(spark, parts), space) for parts in (1, 7))
    assert one == seven
    records = records_of(quasi_for(space.scales))
    held = in_memory.Table(records, K, np.arange(N) % 3)
    by_arrays = space.fit(answered(space.needs(), in_memory.ANSWERS, held))
    assert one.units == pytest.approx(by_arrays.units, rel=1e-6)
    # dates are counted from another day on Spark, which moves all of their points alike
    here, there = (f.points(records).values for f in (one, by_arrays))
    steps = [points - points[:, [0]] for points in (here, there)]
    # and rounds their mean, a millionth of the sd, the other way: lda multiplies that
    assert np.allclose(*steps, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("release", list(RELEASES), ids=RELEASES.keys())
def test_a_release_is_the_same_from_any_layout(
    spark: SparkSession, tmp_path: Path, release: type[Release]
) -> None:
    named = {"name": release.key} | RELEASE_OPTIONS.get(release.key, {})
    policy = policy_for(
        release.scales,
        method={"space": "gower", "release": named},
        gates={"max_uniqueness": 1.0},  # what guarantees nothing must have a gate on a risk
        seed={"file": seed_file(tmp_path)},
    )
    if not release.by_group:
        policy.pop("k")
    found = []
    for parts in (1, 7):
        table = laid_out(spark, parts)
        data = sparkanon.anonymize(table, policy).data
        assert data is not None
        rows = [tuple(row) for row in data.collect()]
        assert len(rows) == N
        assert not any(cell != cell for row in rows for cell in row)
        if release.cells is not Cells.TEXT:
            types = {field.name: field.dataType for field in data.schema}
            assert types == {f.name: f.dataType for f in table.schema if f.name in types}
        found.append(Counter(rows))
    assert found[0] == found[1]
