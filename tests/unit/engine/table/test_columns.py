"""Values that a policy states, as the numbers of a column."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pyspark.sql import types as T

from sparkanon.engine.fit.quantiles import numbers_of
from sparkanon.engine.table.columns import Quasi
from sparkanon.errors import InputError
from sparkanon.policy import ColumnType
from sparkanon.releases.needs import NumberOf

NUMERIC, ORDINAL, TIME = ColumnType.NUMERIC, ColumnType.ORDINAL, ColumnType.TIMESTAMP
DAYS = (dt.date(2020, 2, 29) - dt.date(1970, 1, 1)).days
MICROS = DAYS * 86_400 * 10**6


def quasi(spark: T.DataType, kind: ColumnType = NUMERIC, **more: Any) -> Quasi:
    return Quasi("c", kind, spark, **more)


@pytest.mark.parametrize(
    ("column", "value", "number"),
    [
        (quasi(T.DoubleType()), 0.1, 0.1),
        (quasi(T.IntegerType()), 7, 7.0),
        (quasi(T.IntegerType()), 7.6, 8.0),
        (quasi(T.ByteType()), 1000, 127.0),
        (quasi(T.LongType(), origin=2**60), 2**60 + 3, 3.0),
        (quasi(T.FloatType()), 0.1, 0.10000000149011612),
        (quasi(T.DecimalType(6, 2)), 1.239, 1.24),
        (quasi(T.StringType(), ORDINAL, order=("low", "middle", "high")), "middle", 1.0),
        (quasi(T.IntegerType(), ORDINAL, order=("10", "5", "1")), 5, 1.0),
        (quasi(T.DateType(), ColumnType.DATE), "2020-02-29", float(DAYS)),
        (quasi(T.DateType(), ORDINAL, origin=DAYS), "2020-03-01", 1.0),
        (quasi(T.TimestampNTZType(), TIME), "2020-02-29", float(MICROS)),
        (
            quasi(T.TimestampType(), TIME),
            "2020-02-29T01:00:00+01:00",
            float(MICROS),
        ),
        (quasi(T.TimestampType(), TIME), "1969-12-31T23:59:59Z", -1e6),
    ],
)
def test_a_stated_value_has_a_number(column: Quasi, value: Any, number: float) -> None:
    assert column.number_of(value) == number


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (quasi(T.DoubleType()), "seven"),
        (quasi(T.DoubleType()), 10**400),
        (quasi(T.StringType(), ORDINAL, order=("low", "high")), "middle"),
        (quasi(T.DateType(), ColumnType.DATE), "yesterday"),
        (quasi(T.DateType(), ColumnType.DATE), 4),
        (quasi(T.TimestampNTZType(), TIME), "2020-02-29T01:00:00Z"),
    ],
)
def test_what_is_no_value_of_the_column_is_refused(column: Quasi, value: Any) -> None:
    assert column.number_of(value) is None
    with pytest.raises(InputError) as caught:
        numbers_of([column], [NumberOf("c", value, "a.path")])
    (problem,) = caught.value.problems
    assert problem.path == "a.path"
    assert "is no value of a column of type" in problem.message
