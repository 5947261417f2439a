"""Every grouping through the whole job: Spark publishes what the kernel makes of a block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.engine.columns import resolve
from sparkanon.engine.fit import gather, with_key
from sparkanon.engine.names import KEY
from sparkanon.groupings import GROUPINGS
from sparkanon.numeric.records import Column, Scale
from sparkanon.policy import make_policy, read_seed
from sparkanon.rng import generator

QUASI = ["x", "y", "z"]
K = 4


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=QUASI)
    return spark.createDataFrame(frame).repartition(3).cache()


@pytest.mark.parametrize("key", GROUPINGS.keys())
def test_spark_publishes_what_the_kernel_finds(table: DataFrame, tmp_path: Path, key: str) -> None:
    (tmp_path / "seed").write_text("a seed for the kernel and for Spark")
    policy = make_policy(
        {
            "columns": dict.fromkeys(QUASI, "quasi_identifier"),
            "k": K,
            "method": {"grouping": key},
            "seed": {"file": str(tmp_path / "seed")},
        }
    )
    made = sparkanon.anonymize(table, policy, spark=table.sparkSession)
    assert made.data is not None
    columns = resolve(policy, table.schema)
    keyed = with_key(table, columns)
    values = keyed.toPandas().sort_values(KEY)[QUASI].to_numpy().T
    statistics = gather(keyed, columns, K, policy.nulls).statistics
    present = np.zeros(values.shape[1], np.bool_)
    records = [Column(q, Scale.NUMERIC, v, present) for q, v in zip(QUASI, values, strict=True)]
    points = policy.method.space.fit(statistics).points(tuple(records))
    random = generator(read_seed(policy.seed).derive("masking"), "group", 0)
    labels = GROUPINGS.build(key).group(points, K, random)
    means = np.array([np.bincount(labels, row) / np.bincount(labels) for row in values])
    expected = np.sort(means[:, labels].round(9), axis=1)
    found = np.sort(made.data.toPandas()[QUASI].to_numpy().T.round(9), axis=1)
    assert found == pytest.approx(expected, abs=1e-8)
