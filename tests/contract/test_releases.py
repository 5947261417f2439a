"""Every registered release keeps the contract, whatever the columns look like."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import types as T

from sparkanon.engine.mask.masking import GroupMaker, Masking
from sparkanon.engine.sql.names import BLOCK, KEY
from sparkanon.engine.table.columns import Quasi
from sparkanon.engine.verify.constraints import Constraints
from sparkanon.engine.verify.verify import VERIFIERS
from sparkanon.needs import Known
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Floats, Labels, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import ColumnType
from sparkanon.promises import Rows
from sparkanon.releases import (
    RELEASES,
    Asked,
    Cells,
    Generalized,
    Grouped,
    NewValues,
    Published,
    Release,
    Replaced,
    TakenFrom,
)
from sparkanon.releases.needs import Quantiles

K = 5
# What cannot be chosen without a parameter.
EXAMPLES: Mapping[str, Mapping[str, Any]] = {"top_bottom": {"share": 0.1}}

Maker = Callable[[np.random.Generator, int], Floats]
NUMBERS: dict[str, Maker] = {
    "random": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "constant": lambda rng, n: np.full(n, 0.1 + 0.2),
    "zero": lambda rng, n: np.zeros(n),
    "negative zeros": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "outlier": lambda rng, n: np.concatenate([[1e12], rng.random(n - 1)]),
    "far away": lambda rng, n: 1e9 + rng.random(n),
    "huge": lambda rng, n: 1e200 * rng.normal(size=n),
    "tiny": lambda rng, n: 1e-200 * rng.normal(size=n),
}
NULLS = {"no nulls": 0.0, "some nulls": 0.2, "mostly nulls": 0.8, "nulls only": 1.0}


@pytest.fixture(params=list(RELEASES), ids=RELEASES.keys())
def release(request: pytest.FixtureRequest) -> Release:
    made: Release = request.param(**EXAMPLES.get(request.param.key, {}))
    return made


def records_of(release: Release, data: str, n: int, nulls: float = 0.0) -> Records:
    """A column of every scale that the release takes, two of the numeric one."""
    rng = np.random.default_rng(n)
    wanted = [Scale.NUMERIC, *sorted(release.scales)]
    columns = []
    for i, scale in enumerate(wanted):
        values = NUMBERS[data](rng, n)
        if scale is not Scale.NUMERIC:
            values = np.unique(values, return_inverse=True)[1].astype(np.float64) % 7
        null = rng.random(n) < nulls
        columns.append(Column(f"c{i}", scale, np.where(null, 0.0, values), null))
    return tuple(columns)


def known_about(release: Release, records: Records) -> Known:
    """The answers to its needs, by sorting."""
    answers = {}
    for need in release.needs():
        assert isinstance(need, Quantiles), "add the answer to this need"
        answers[need] = {c.name: ends(c.values[~c.null], need.share) for c in records}
    return Known(answers)


def ends(values: Floats, share: float) -> tuple[float, float]:
    if not len(values):
        return 0.0, 0.0
    ordered, m = np.sort(values), max(1, ceil(share * len(values)))
    return float(ordered[m - 1]), float(ordered[len(values) - m])


def publish(release: Release, records: Records, labels: Labels) -> tuple[Published, ...]:
    fitted = release.fit(known_about(release, records))
    return fitted.publish(records, Grouped(labels, np.random.default_rng(1)))


def groups_of(release: Release, n: int) -> Labels:
    """Groups of K to 2K-1 in no order; where none are made every record is alone."""
    if not release.by_group:
        return np.arange(n, dtype=np.int32)
    labels = np.minimum(np.arange(n) // K, max(n // K - 1, 0)).astype(np.int32)
    return np.random.default_rng(n).permutation(labels)


def check(records: Records, labels: Labels, published: tuple[Published, ...]) -> None:
    assert len(published) == len(records)
    for column, new in zip(records, published, strict=True):
        n = len(column.values)
        if isinstance(new, NewValues):
            assert new.values.shape == new.null.shape == (n,)
            assert new.null.dtype == np.bool_
            assert np.isfinite(new.values[~new.null]).all()
        elif isinstance(new, TakenFrom):
            assert (labels[new.rows] == labels).all(), "a cell of another group"
            assert (np.sort(new.rows) == np.arange(n)).all(), "a cell twice, or never"
        elif isinstance(new, Replaced):
            assert new.where.shape == new.values.shape == (n,)
            assert not (new.where & column.null).any(), "a value for a null"
            assert np.isfinite(new.values[new.where]).all()
        else:
            check_spans(column, labels, new)


def check_spans(column: Column, labels: Labels, new: Generalized) -> None:
    assert (new.labels == labels).all()
    has_null = np.bincount(labels, weights=column.null) > 0
    assert (new.hidden == has_null).all(), "what holds a null is hidden"
    assert (new.null <= new.hidden).all()
    assert np.isfinite(new.low).all()
    assert np.isfinite(new.high).all()
    shown = ~new.hidden[labels]
    assert (new.low[labels] <= column.values)[shown].all()
    assert (column.values <= new.high[labels])[shown].all()


# Values


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("data", NUMBERS)
def test_values_come_from_the_right_places(release: Release, data: str, nulls: str) -> None:
    for n in (K, 2 * K - 1, 2 * K, 200):
        records = records_of(release, data, n, NULLS[nulls])
        labels = groups_of(release, n)
        before = [(c.values.copy(), c.null.copy()) for c in records]
        published = publish(release, records, labels)
        check(records, labels, published)
        for column, (values, null) in zip(records, before, strict=True):
            assert (column.values == values).all(), "the records were changed"
            assert (column.null == null).all(), "the records were changed"
        again = publish(release, records, labels)
        assert repr(published) == repr(again), "not deterministic"


def test_one_record_and_one_group(release: Release) -> None:
    for n in (1, K, 300):
        records = records_of(release, "random", n)
        labels = np.zeros(n, np.int32) if release.by_group else groups_of(release, n)
        check(records, labels, publish(release, records, labels))


def test_what_is_constant_stays_so(release: Release) -> None:
    for data in ("constant", "zero"):
        records = records_of(release, data, 60)
        for column, new in zip(
            records, publish(release, records, groups_of(release, 60)), strict=True
        ):
            if isinstance(new, NewValues):
                assert (new.values == column.values).all()
                assert not new.null.any()
            elif isinstance(new, Replaced):
                assert (new.values == column.values)[new.where].all()
            elif isinstance(new, Generalized):
                assert set(new.low) == set(new.high) == set(column.values)


def test_what_a_column_is_made_of_is_what_the_release_says(release: Release) -> None:
    made_of: dict[Cells, tuple[type, ...]] = {
        Cells.MEANS: (NewValues,),
        Cells.COMPUTED: (NewValues,),
        Cells.OWN: (TakenFrom, Replaced),
        Cells.TEXT: (Generalized,),
    }
    records = records_of(release, "random", 60)
    for new in publish(release, records, groups_of(release, 60)):
        assert isinstance(new, made_of[release.cells])


# What it says about itself


def test_the_promise_is_a_value_that_can_be_verified(release: Release) -> None:
    promise = release.promise(("a", "b", "c"), K if release.by_group else None)
    reported = json.loads(json.dumps(promise.to_dict()))
    assert reported["rows"] in set(Rows)
    assert reported["columns"] == ["a", "b", "c"]
    assert reported["k"] == (K if release.by_group else None) == promise.k
    assert reported["text"] == promise.text
    assert type(promise) in VERIFIERS
    assert promise.guaranteed or promise.k is None
    assert {name for unit in promise.units for name in unit} <= set("abc")
    assert release.problems(Asked(("a", "b", "c"), promise.k, others=True)) == []


def test_a_release_by_group_promises_nothing_without_k(release: Release) -> None:
    if release.by_group:
        with pytest.raises(ValueError, match="without k"):
            release.promise(("a", "b"), None)


def test_it_is_built_from_what_it_says(release: Release) -> None:
    assert RELEASES.build(json.loads(json.dumps(RELEASES.config(release)))) == release
    assert release.done[0].islower(), "it goes on after: sparkanon took the records, and"
    for column, words in release.words().items():
        assert release.allowed(column) is not None
        assert all(words.values())


# Types: through the code that runs on the executors, without Spark

DAY, NOW = dt.date(1980, 1, 1), dt.datetime(2020, 1, 1)
SPARK: dict[str, tuple[T.DataType, ColumnType, Callable[[int], Any]]] = {
    "int": (T.IntegerType(), ColumnType.NUMERIC, lambda i: i % 19),
    "long": (T.LongType(), ColumnType.NUMERIC, lambda i: 8 * 10**9 + i),
    "float": (T.FloatType(), ColumnType.NUMERIC, lambda i: i / 4),
    "double": (T.DoubleType(), ColumnType.NUMERIC, lambda i: i / 7),
    "decimal": (T.DecimalType(30, 4), ColumnType.NUMERIC, lambda i: Decimal(i) / 8),
    "date": (T.DateType(), ColumnType.DATE, lambda i: DAY + dt.timedelta(days=i)),
    "local": (T.TimestampNTZType(), ColumnType.TIMESTAMP, lambda i: NOW + dt.timedelta(hours=i)),
    "bool": (T.BooleanType(), ColumnType.BOOLEAN, lambda i: i % 3 == 0),
    "rank": (T.IntegerType(), ColumnType.ORDINAL, lambda i: i % 4),
    "step": (T.StringType(), ColumnType.ORDINAL, lambda i: ("low", "middle", "high")[i % 3]),
    "town": (T.StringType(), ColumnType.NOMINAL, lambda i: f"town {i % 5}"),
}
ROWS = 60


@dataclass(frozen=True)
class Near:
    """A space in which every column counts as it is."""

    def points(self, records: Records) -> Points:
        return Points.euclidean(np.stack([np.arctan(column.values) for column in records]))


@dataclass(frozen=True)
class InTurn:
    """A grouping: the records as they come, K by K."""

    def group(self, points: Points, k: int, rng: np.random.Generator) -> Labels:
        return np.minimum(np.arange(points.n) // k, points.n // k - 1).astype(np.int32)


def quasi_of(release: Release) -> tuple[Quasi, ...]:
    return tuple(
        Quasi(
            name,
            kind,
            spark,
            order=("low", "middle", "high") if name == "step" else None,
            as_text=release.cells is Cells.TEXT,
        )
        for name, (spark, kind, _) in SPARK.items()
        if kind.scale in release.scales
    )


def block_of(quasi: tuple[Quasi, ...], nulls: bool) -> pa.Table:
    rng = np.random.default_rng(3)
    table = {KEY: pa.array(rng.permutation(ROWS), pa.int64())}
    for q in quasi:
        numbers = rng.permutation(ROWS).tolist()
        cells = [None if nulls and i % 7 == 0 else SPARK[q.name][2](i) for i in numbers]
        table[q.name] = pa.array(cells, replace(q, as_text=False).arrow)
    return pa.table(table | {"other": pa.array(range(ROWS)), BLOCK: pa.array([0] * ROWS)})


def masking_of(release: Release, quasi: tuple[Quasi, ...], table: pa.Table) -> Masking:
    records = tuple(q.read(table.column(q.name).combine_chunks())[0] for q in quasi)
    return Masking(
        quasi=quasi,
        statistics=tuple(ColumnStatistics(c.name, c.scale, ROWS, 0) for c in records),
        groups=GroupMaker(Near(), InTurn(), K) if release.by_group else None,  # type: ignore
        release=release.fit(known_about(release, records)),
        constraints=Constraints(),
        floor=0,
        keep_groups=False,
        with_originals=False,
        key=b"a key",
    )


@pytest.mark.parametrize("nulls", [False, True], ids=["no nulls", "some nulls"])
def test_columns_keep_their_types_and_rows_their_other_cells(
    release: Release, nulls: bool
) -> None:
    quasi = quasi_of(release)
    table = block_of(quasi, nulls)
    masked = masking_of(release, quasi, table).mask(table, 0)
    assert masked is not None
    made = masked.table
    assert made.column_names == [*(q.name for q in quasi), "other"]
    assert made.num_rows == ROWS
    for q in quasi:
        assert made.schema.field(q.name).type == q.arrow, q.name
        new, old = made.column(q.name).to_pylist(), table.column(q.name).to_pylist()
        assert not any(isinstance(cell, float) and cell != cell for cell in new)
        if release.cells is Cells.OWN:
            assert set(new) <= set(old), "a value that nobody has"
            assert new.count(None) == old.count(None)
    assert sorted(made.column("other").to_pylist()) == list(range(ROWS))


def test_the_order_of_the_rows_does_not_matter(release: Release) -> None:
    quasi = quasi_of(release)
    table = block_of(quasi, nulls=True)
    masking = masking_of(release, quasi, table)

    def rows(one: pa.Table) -> Counter[str]:
        masked = masking.mask(one, 0)
        assert masked is not None
        return Counter(map(str, masked.table.to_pylist()))

    expected = rows(table)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(ROWS)
        assert rows(table.take(pa.array(shuffled))) == expected
