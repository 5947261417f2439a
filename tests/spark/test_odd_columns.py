"""Columns that doubles, collations, calendars or metadata make odd: each works or is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from seeds import seed_file

import sparkanon
from sparkanon.errors import InputError


def policy(folder: Path, columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "columns": columns,
        "k": 3,
        "method": {"grouping": "mdav"},
        "seed": {"file": seed_file(folder)},
        "runs": str(folder / "runs"),
    } | more


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ([-1.7e308, 1.7e308] * 6, "far apart"),
        ([1e200, -1e200] * 6, "far apart"),
        ([0.0, 1e-320] * 6, "so little"),
        ([0.0, 1e-320] * 5 + [1.0, 2.0], None),
        ([1e150] * 12, None),
        ([1.7e308] * 12, None),  # a constant, of which no double holds the square
        ([-1.6e307] * 12, None),  # nor the sum
        ([1e140, -1e140] * 6, None),
    ],
)
@pytest.mark.parametrize("space", ["euclidean", "gower"])
def test_extremes_work_or_are_refused(
    spark: SparkSession, tmp_path: Path, values: list[float], wrong: str | None, space: str
) -> None:
    table = spark.createDataFrame(pd.DataFrame({"a": values, "b": np.arange(12.0)}))
    given = policy(tmp_path, {"a": "quasi_identifier", "b": "quasi_identifier"})
    given |= {"method": {"space": space, "grouping": "mdav"}}
    if wrong is None:
        made = sparkanon.anonymize(table, given)
        assert made.manifest["rows_out"] == 12
        return
    with pytest.raises(InputError, match=rf"columns\.a: .*{wrong}") as caught:
        sparkanon.anonymize(table, given)
    assert "e+" not in str(caught.value)


def test_arrays_without_a_distance_are_refused() -> None:
    values = np.column_stack([[-1.7e308, 1.7e308] * 6, np.arange(12.0)])
    with pytest.raises(InputError, match="far apart"):
        sparkanon.group(values, 3)


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_days_that_no_calendar_has_are_refused(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    text = "if(id < 2, '+12000-01-01', '2020-01-01')"
    table = spark.range(12).selectExpr(f"cast({text} as {kind}) as day", "id")
    given = policy(tmp_path, {"day": "quasi_identifier", "id": "quasi_identifier"})
    with pytest.raises(InputError, match=r"columns\.day: 2 cells are dates outside"):
        sparkanon.anonymize(table, given)


def test_collated_text_counts_by_its_bytes(
    spark: SparkSession, tmp_path: Path, stager: str
) -> None:
    """With UTF8_LCASE 'a' is 'A': twelve rows would look like one class."""
    text = "cast(if(id % 6 = 0, 'A', if(id % 6 < 3, 'a', 'B')) as string collate UTF8_LCASE)"
    table = spark.range(24).selectExpr(f"{text} as town", "cast(id as string collate UNICODE) s")
    output = {"format": "parquet", "path": str(tmp_path / "release")}
    given = policy(tmp_path, {"town": "quasi_identifier", "s": "sensitive"}, output=output)
    given |= {"method": {"space": "gower", "grouping": "mdav", "release": "permute"}}
    made = sparkanon.anonymize(table, given)
    assert made.data is not None
    assert [field.dataType.simpleString() for field in made.data.schema] == ["string", "string"]
    published = pq.read_table(tmp_path / "release").to_pandas()["town"]
    assert Counter(published) == {"A": 4, "a": 8, "B": 12}
    centred = given | {"method": {"space": "gower", "grouping": "mdav"}}
    made = sparkanon.anonymize(table, centred)
    published = pq.read_table(tmp_path / "release").to_pandas()["town"]
    assert min(Counter(published).values()) >= 3


@pytest.mark.parametrize("form", ["parquet", "delta", "table"])
def test_metadata_of_columns_does_not_travel(
    spark: SparkSession, tmp_path: Path, form: str, stager: str
) -> None:
    secret = {"ml_attr": {"vals": ["Zanzibar", "Timbuktu"]}, "comment": "Zanzibar"}
    table = spark.range(12).select(
        F.col("id").alias("a", metadata=secret),
        (F.col("id") % 2).alias("kept", metadata=secret),
        F.struct(F.col("id").alias("inner", metadata=secret)).alias("nested"),
    )
    spark.sql("drop table if exists people_without_metadata")
    place = {"path": str(tmp_path / "release")}
    place = {"name": "people_without_metadata"} if form == "table" else place
    given = policy(tmp_path, {"a": "quasi_identifier", "kept": "keep", "nested": "keep"})
    made = sparkanon.anonymize(table, given | {"output": {"format": form, **place}})
    assert made.data is not None
    assert "Zanzibar" not in made.data.schema.json()
    files = [Path(name.removeprefix("file:")) for name in made.data.inputFiles()]
    assert files
    for path in files:
        assert b"Zanzibar" not in path.read_bytes()


def test_char_and_varchar_keep_their_lengths(
    spark: SparkSession, tmp_path: Path, stager: str
) -> None:
    spark.sql("drop table if exists short_texts")
    spark.sql("create table short_texts (a int, v varchar(7)) using parquet")
    spark.range(12).selectExpr("cast(id as int) a", "'x' v").write.insertInto("short_texts")
    columns = {"a": "quasi_identifier", "v": "keep"}
    made = sparkanon.anonymize(spark.table("short_texts"), policy(tmp_path, columns))
    assert made.data is not None
    assert made.manifest["rows_out"] == 12
    spark.sql("drop table short_texts")
