"""Values that Spark computes with and does not show.

Spark prints its plans on pages, in event logs and in debug output. A literal made from a cell (a
cut between two values, the least value of a column) would stand there for everybody to read. So
such values live in a table of one row, and plans only say where they come from.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import Column, SparkSession

from sparkanon.engine.sql.names import RESERVED

_VALUE = "v"


def hidden(spark: SparkSession, value: pa.Array) -> Column:
    """The only cell of this array, as a column of any table."""
    row = spark.createDataFrame(pa.table({_VALUE: value}))
    return row.select(_VALUE).scalar()


class HiddenViews:
    """Hidden values for expressions in SQL, as temporary views that are dropped after the run."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._names: list[str] = []

    def add(self, value: pa.Array) -> str:
        """The only cell of this array, in SQL."""
        name = f"{RESERVED}_{uuid.uuid4().hex}"
        self._spark.createDataFrame(pa.table({_VALUE: value})).createTempView(name)
        self._names.append(name)
        return f"(select {_VALUE} from {name})"  # noqa: S608 (a name of ours)

    def drop(self) -> None:
        for name in self._names:
            self._spark.catalog.dropTempView(name)
        self._names.clear()


@contextlib.contextmanager
def hidden_views(spark: SparkSession) -> Iterator[HiddenViews]:
    views = HiddenViews(spark)
    try:
        yield views
    finally:
        views.drop()
