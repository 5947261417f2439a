"""Every grouping through the whole job: Spark publishes what the kernel makes of a block."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.sql.names import KEY
from sparkanon.engine.table.columns import resolve
from sparkanon.groupings import GROUPINGS
from sparkanon.needs import Known
from sparkanon.numeric.records import Column, Scale
from sparkanon.policy import make_policy, read_seed
from sparkanon.rng import generator
from sparkanon.spaces.needs import Moments

QUASI = ["x", "y", "z"]
K = 4


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=QUASI)
    return spark.createDataFrame(frame).repartition(3).cache()


@pytest.mark.parametrize("key", GROUPINGS.keys())
def test_spark_publishes_what_the_kernel_finds(table: DataFrame, tmp_path: Path, key: str) -> None:
    policy = make_policy(
        {
            "columns": dict.fromkeys(QUASI, "quasi_identifier"),
            "k": K,
            "method": {"grouping": key},
            "seed": {"file": seed_file(tmp_path)},
        }
    )
    made = sparkanon.anonymize(table, policy, spark=table.sparkSession)
    assert made.data is not None
    columns = resolve(policy, table.schema)
    keyed = with_key(table, columns)
    ordered = keyed.toPandas().sort_values(KEY)
    values = ordered[QUASI].to_numpy().T
    statistics = gather(
        keyed, columns, K, policy.nulls, HiddenViews(table.sparkSession)
    ).statistics
    present = np.zeros(values.shape[1], np.bool_)
    records = [Column(q, Scale.NUMERIC, v, present) for q, v in zip(QUASI, values, strict=True)]
    fitted = policy.method.space.fit(Known({Moments(): statistics}))
    points = fitted.points(tuple(records))
    rows = hashlib.sha256(ordered[KEY].to_numpy().tobytes()).digest()
    random = generator(read_seed(policy.seed).derive("masking", policy.meaning()), "group", rows)
    labels = GROUPINGS.build(key).group(points, K, random)
    means = np.array([np.bincount(labels, row) / np.bincount(labels) for row in values])
    expected = np.sort(means[:, labels].round(9), axis=1)
    found = np.sort(made.data.toPandas()[QUASI].to_numpy().T.round(9), axis=1)
    assert found == pytest.approx(expected, abs=1e-8)
