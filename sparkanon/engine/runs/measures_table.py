"""Measures as a table: one row for each run, measure and column, appended after every run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from sparkanon.engine.session.hadoop import locate
from sparkanon.errors import Problem, SparkanonError
from sparkanon.measures import Measure
from sparkanon.policy.model import MeasuresTable

_SCHEMA = "run_id string, taken timestamp, measure string, `column` string, value double, "
_SCHEMA += "low double, high double"


def append(
    spark: SparkSession,
    table: MeasuresTable,
    run_id: str,
    taken: datetime,
    measures: Sequence[Measure],
) -> None:
    """Add the measures of a run; readers of the table see all of them or none."""
    rows = [(run_id, taken, m.measure, m.column, m.value, m.low, m.high) for m in measures]
    made = spark.createDataFrame(rows, _SCHEMA).coalesce(1)  # one file is seen whole or not at all
    try:
        place = locate(spark, table.path, "audit.table.path")
        place.make_folder()  # for the owner alone: they are as exact as in the folder of runs
        made.write.format(table.format).mode("append").save(place.url)
    except Exception as error:
        # exit code 1 and not 2: the input was fine, and everything else is done by now
        text = f"{table.path} cannot be appended to ({type(error).__name__})"
        raise SparkanonError(Problem("audit.table", text)) from None
