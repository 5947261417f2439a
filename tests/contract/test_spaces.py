"""Every registered space keeps the contract, whatever the columns look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from sparkanon import in_memory
from sparkanon.engine.fit import answers
from sparkanon.errors import InputError
from sparkanon.needs import answered
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Bools, Column, Floats, Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.saved import from_json, to_json
from sparkanon.spaces import SPACES, FittedSpace, Space
from sparkanon.spaces.base import serves_any_pair

# What has no default, and no search: its sample depends on the order of an array.
OPTIONS: dict[str, dict[str, Any]] = {"lda": {"target": "y", "alpha": 4.0}}
N = 120

Maker = Callable[[np.random.Generator], Floats]

NUMBERS: dict[str, Maker] = {
    "random": lambda rng: rng.normal(size=N),
    "ties": lambda rng: rng.integers(0, 3, N).astype(float),
    "constant": lambda rng: np.full(N, 7.5),
    "outlier": lambda rng: np.concatenate([[1e12], rng.random(N - 1)]),
    "far away": lambda rng: 1e9 + rng.random(N),
    "huge": lambda rng: 1e60 * rng.normal(size=N),
    "tiny": lambda rng: 1e-60 * rng.normal(size=N),
}
NULLS = {"no nulls": 0.0, "nulls": 0.3}
EVERY = pytest.mark.parametrize(("data", "nulls"), [(d, n) for d in NUMBERS for n in NULLS])
SOME = pytest.mark.parametrize(("data", "nulls"), [("random", "no nulls"), ("ties", "nulls")])


@pytest.fixture(params=SPACES.keys())
def space(request: pytest.FixtureRequest) -> Space:
    return made(request.param)


def made(key: str, **options: Any) -> Space:
    return SPACES.build({"name": key} | OPTIONS.get(key, {}) | options)


def records_for(space: Space, data: str, nulls: str) -> Records:
    """Two columns of each scale that the space takes, and one that is constant."""
    rng = np.random.default_rng(len(data))
    cells = {
        Scale.NUMERIC: NUMBERS[data],
        Scale.ORDINAL: lambda rng: rng.integers(0, 5, N).astype(float),
        Scale.NOMINAL: lambda rng: rng.integers(0, 4, N).astype(float),
    }
    taken = [scale for scale in Scale if scale in space.scales]
    columns = [
        Column(f"{scale} {i}", scale, cells[scale](rng), rng.random(N) < NULLS[nulls])
        for scale in taken
        for i in range(2)
    ]
    columns.append(Column("all the same", taken[0], np.full(N, 2.0), np.zeros(N, np.bool_)))
    return tuple(column.with_values(column.values, column.null) for column in columns)


def fitted_on(space: Space, records: Records, order: Any = slice(None)) -> FittedSpace:
    """Fitted on what the space asks for, and on nothing else."""
    classes = (np.arange(len(records[0].values)) % 3)[order]
    table = in_memory.Table(records, k=5, classes=classes)
    known = answered(space.needs(), in_memory.ANSWERS, table)
    return space.fit(known.only(space.needs()))


def distances(points: Points, i: int = 0) -> Floats:
    """Of all records to one of them; squared where the space is Euclidean."""
    step = np.abs(points.values - points.values[:, [i]])
    if not points.metric.capped:
        return np.asarray((step**2).sum(axis=0))
    return np.asarray(np.minimum(step, points.metric.caps[:, np.newaxis]).sum(axis=0))


def changed(records: Records, name: str, values: Floats, null: Bools | None = None) -> Records:
    return tuple(
        replace(c, values=values, null=c.null if null is None else null) if c.name == name else c
        for c in records
    )


def twice(records: Records) -> Records:
    """The first record and a copy of it."""
    return tuple(column.rows(np.array([0, 0])) for column in records)


@EVERY
def test_points_are_finite_arrays_as_kernels_want_them(
    space: Space, data: str, nulls: str
) -> None:
    records = records_for(space, data, nulls)
    before = [column.values.copy() for column in records]
    fitted = fitted_on(space, records)
    points = fitted.points(records)
    assert points.n == N
    assert points.values.shape == (points.d, N)
    assert points.values.dtype == np.float64
    assert points.values.flags.c_contiguous
    assert np.isfinite(points.values).all()
    assert points.metric.codes.shape == points.metric.caps.shape == (points.d,)
    assert (points.metric.caps >= 0).all()
    assert all((column.values == old).all() for column, old in zip(records, before, strict=True))
    assert fitted.units.keys() == {column.name for column in records}
    assert all(np.isfinite(unit) and unit >= 0 for unit in fitted.units.values())


@EVERY
def test_a_record_has_its_point_whoever_stands_beside_it(
    space: Space, data: str, nulls: str
) -> None:
    records = records_for(space, data, nulls)
    fitted = fitted_on(space, records)
    whole = fitted.points(records).values
    for rows in (np.random.default_rng(3).permutation(N), np.array([17])):
        some = tuple(column.rows(rows) for column in records)
        assert (fitted.points(some).values == whole[:, rows]).all()


@EVERY
def test_rows_in_another_order_are_fitted_alike(space: Space, data: str, nulls: str) -> None:
    records = records_for(space, data, nulls)
    order = np.random.default_rng(4).permutation(N)
    shuffled = tuple(column.rows(order) for column in records)
    assert fitted_on(space, shuffled, order) == fitted_on(space, records)


@EVERY
def test_equal_records_are_at_one_place_and_others_are_not(
    space: Space, data: str, nulls: str
) -> None:
    records = records_for(space, data, nulls)
    fitted = fitted_on(space, records)
    found = distances(fitted.points(records))
    cells = np.stack([np.where(c.null, np.nan, c.values) for c in records])
    same = [np.array_equal(cells[:, i], cells[:, 0], equal_nan=True) for i in range(N)]
    assert (found[same] == 0).all()
    if data in ("random", "ties", "constant"):  # an outlier leaves nothing between the others
        assert (found[~np.array(same)] > 0).all()


@pytest.mark.parametrize("data", NUMBERS)
def test_a_null_is_away_from_every_value_and_not_from_a_null(space: Space, data: str) -> None:
    records = records_for(space, data, "nulls")
    fitted = fitted_on(space, records)
    for column in records:
        if not column.null.any():
            continue
        for one, other, near in ((True, True, True), (True, False, False)):
            pair = changed(
                twice(records),
                column.name,
                np.where([one, other], 0.0, column.values[~column.null][0]),
                np.array([one, other]),
            )
            assert (distances(fitted.points(pair))[1] == 0) == near


@EVERY
def test_a_unit_is_one_step(space: Space, data: str, nulls: str) -> None:
    records = records_for(space, data, nulls)
    fitted = fitted_on(space, records)
    for column in records:
        unit, values = fitted.units[column.name], column.values[~column.null]
        if values.min() == values.max():
            continue
        assert unit > 0
        # categories are 1 apart, and that is as far as they get; others go a hundredth of a unit
        step = 1.0 if column.scale is Scale.NOMINAL else unit / 100
        start = values[np.argmin(np.abs(values))]
        pair = changed(
            twice(records), column.name, np.array([start, start + step]), np.zeros(2, np.bool_)
        )
        points = fitted.points(pair)
        found = distances(points)[1]
        length = found if points.metric.capped else np.sqrt(found)
        assert length == pytest.approx(step / unit, rel=1e-3)


@SOME
def test_rulers_and_points_agree(space: Space, data: str, nulls: str) -> None:
    """What only the classes of this table can say no ruler knows; it never measures more."""
    records = records_for(space, data, nulls)
    fitted = fitted_on(space, records)
    rulers = [fitted.ruler(column.name, column.scale) for column in records]
    points = fitted.points(records)
    for i in range(0, N, 10):
        measured = sum(map(ruled, rulers, records, [i] * len(records)), np.zeros(N))
        expected = distances(points, i)
        if serves_any_pair(space):
            assert measured == pytest.approx(expected, rel=1e-9, abs=1e-12)
        else:
            assert (measured <= expected * 1.0001 + 1e-12).all()
            assert (measured > 0).any()


def ruled(ruler: Ruler, column: Column, i: int) -> Floats:
    """What a column adds to the distances of all records to one of them."""
    at = 0.0 if ruler.null_at is None else ruler.null_at
    values = np.where(column.null, at, column.values)
    gap = np.abs(values - values[i])
    differ = column.null != column.null[i]
    if ruler.null_at is None:
        gap[differ] = 0.0
    steps = gap * ruler.factor, differ * ruler.null_step
    if np.isinf(ruler.cap):
        return np.asarray(sum(step**2 for step in steps))
    return np.asarray(sum(np.minimum(step, ruler.cap) for step in steps))


@pytest.mark.parametrize(
    "key", [s.key for s in SPACES if "weights" in {field.name for field in fields(s)}]
)
@SOME
def test_weights_say_how_much_a_column_counts(key: str, data: str, nulls: str) -> None:
    records = records_for(made(key), data, nulls)
    first, second = records[0].name, records[1].name

    def parts(weights: dict[str, float]) -> tuple[float, float]:
        """How far two records are apart that differ in the first or the second column alone."""
        fitted = fitted_on(made(key, weights=weights), records)
        apart = []
        for column in records[:2]:
            ends = np.sort(column.values[~column.null])[[0, -1]]
            both = changed(twice(records), column.name, ends, np.zeros(2, np.bool_))
            apart.append(float(distances(fitted.points(both))[1]))
        return apart[0], apart[1]

    plain, heavy, none = parts({}), parts({first: 4.0}), parts({first: 0.0})
    assert heavy[0] / heavy[1] == pytest.approx(4 * plain[0] / plain[1])
    assert none[0] == 0 < none[1]
    assert fitted_on(made(key, weights={first: 0.0}), records).units[first] == 0
    for weights, message in (
        ({"nobody": 1.0}, "no quasi-identifier"),
        (dict.fromkeys((first, second), 0.0), "every quasi-identifier has weight 0"),
    ):
        (problem,) = made(key, weights=weights).problems((first, second))
        assert message in problem.message


def test_a_space_fits_a_table_of_one_record_if_it_asks_for_no_classes(space: Space) -> None:
    records = records_for(space, "random", "no nulls")
    alone = tuple(column.rows(np.array([0])) for column in records)
    if not serves_any_pair(space):
        with pytest.raises(InputError, match="has one class"):
            fitted_on(space, alone)
        return
    points = fitted_on(space, alone).points(alone)
    assert points.n == 1
    assert np.isfinite(points.values).all()


@EVERY
def test_what_was_fitted_can_be_saved(space: Space, data: str, nulls: str) -> None:
    records = records_for(space, data, nulls)
    fitted = fitted_on(space, records)
    again = from_json(to_json(fitted))  # type: ignore[arg-type]
    assert again == fitted
    assert type(again) is type(fitted)
    assert again.points(records).values.tobytes() == fitted.points(records).values.tobytes()
    assert again.units == fitted.units


def test_spark_and_arrays_answer_what_spaces_need(space: Space) -> None:
    assert answers.ANSWERS.keys() >= in_memory.ANSWERS.keys()
    for need in space.needs():
        assert type(need) in answers.ANSWERS
        assert {need: "frozen"}[replace(need)] == "frozen"  # type: ignore[type-var]


def test_specs_say_what_they_are(space: Space) -> None:
    assert space.title
    assert space.source
    assert space.scales
    assert SPACES.build(json.loads(json.dumps(SPACES.config(space)))) == space
