"""Every registered measure and attack keeps the same promises, whatever it measures."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from sparkanon.attacks import ATTACKS
from sparkanon.attacks.needs import BothWays, Linked, Links, Share
from sparkanon.catalogue import CATALOGUE, GATES, TAKERS, Taker, gate_problem, gives, takers_of
from sparkanon.measures import FAMILIES, MEASURES, Given, Measure
from sparkanon.measures.anonymity import Sizes, class_sizes
from sparkanon.measures.base import Taken
from sparkanon.measures.diversity import Diversities
from sparkanon.measures.diversity import local as diversity_of
from sparkanon.measures.entropy import Bins, ColumnBins
from sparkanon.measures.entropy import local as counted
from sparkanon.measures.loss import GroupMeans
from sparkanon.measures.needs import PairTally, SideTally
from sparkanon.measures.ranks import RankGrid, RankGrids, cuts_of
from sparkanon.measures.uniqueness import SubsetClasses, Subsets
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.public import public
from sparkanon.registry import Registry

SCALES = (Scale.NUMERIC, Scale.ORDINAL, Scale.NOMINAL, Scale.NUMERIC)
TABLES = ["plain", "nulls", "ties", "constant", "one record"]
takers = pytest.mark.parametrize(
    "taker", [kind() for kind in TAKERS.values()], ids=lambda t: t.key
)


def a_table(kind: str) -> tuple[Records, Records]:
    """An original and a release; the last column is constant."""
    rng = np.random.default_rng(3)
    n = 1 if kind == "one record" else 60
    x = [rng.lognormal(size=n), rng.integers(0, 5, n), rng.integers(0, 4, n), np.full(n, 7.0)]
    if kind == "ties":
        x = [np.round(column) for column in x]
    if kind == "constant":
        x = [np.full(n, 3.0) for _ in x]
    nulls = [rng.random(n) < (0.3 if kind == "nulls" else 0.0) for _ in x]
    z = [np.roll(column, 1) for column in x]
    missing = [np.roll(null, 1) for null in nulls]

    def side(columns: list[Any], null: list[Any]) -> Records:
        parts = zip("abcd", SCALES, columns, null, strict=True)
        return tuple(
            Column(name, scale, np.where(gone, 0.0, values), gone)
            for name, scale, values, gone in parts
        )

    return side(x, nulls), side(z, missing)


def statistics(records: Records) -> tuple[ColumnStatistics, ...]:
    found = []
    for column in records:
        held = column.values[~column.null]
        shares = np.unique(column.values, return_counts=True)[1] / len(column.values)
        mean, sd = (held.mean(), held.std()) if column.scale is not Scale.NOMINAL else (0.0, 0.0)
        found.append(
            ColumnStatistics(
                column.name, column.scale, len(column.null), int(column.null.sum()),
                float(mean), float(sd), float(held.min()), float(held.max()),
                1.0 - float((shares**2).sum()),
            )
        )  # fmt: skip
    return tuple(found)


def grid(values: Floats) -> RankGrid:
    cuts = cuts_of(values, 100)
    below, upto = (np.searchsorted(values, cuts, side) for side in ("left", "right"))
    return RankGrid(cuts, below, upto, len(values))


def answer(need: Need[Any], x: Records, z: Records, given: Given, known: Known) -> Any:
    """An answer from arrays, in two pieces that are added, as Spark has it from partitions."""
    pieces = np.array_split(np.arange(given.rows), 2) if given.rows > 1 else [np.arange(1)]

    def rows(side: Records, at: Any) -> Records:
        return tuple(column.rows(at) for column in side)

    if isinstance(need, PairTally):
        one, *others = [need.count(rows(x, at), rows(z, at), given, known) for at in pieces]
        return sum(others, one)
    if isinstance(need, SideTally):
        both = []
        for side in (x, z):
            one, *others = [need.count(rows(side, at), given, known) for at in pieces]
            both.append(sum(others, one))
        return tuple(both)
    if isinstance(need, RankGrids):
        ordered = [np.sort(c.values) for c in x if c.scale is not Scale.NOMINAL]
        return tuple(grid(values) for values in ordered)
    if isinstance(need, Bins):
        codes = [
            [np.unique(column.values, return_inverse=True)[1].astype(np.int32) for column in side]
            for side in (x, z)
        ]
        bins = tuple(
            ColumnBins(c.name, np.arange(int(code.max()) + 1))
            for c, code in zip(x, codes[0], strict=True)
        )
        return (*(counted(side, bins) for side in codes), bins)
    if isinstance(need, GroupMeans):
        return True
    if isinstance(need, Sizes):
        return class_sizes(given.k, [(1, given.rows, given.rows)])
    if isinstance(need, Subsets):
        return {
            None: SubsetClasses.of(np.ones(given.rows, np.int64)),
            "a": SubsetClasses.of(np.array([given.rows])),
        }
    if isinstance(need, Diversities):
        codes = x[2].values.astype(np.int64)
        whole = np.bincount(codes)
        return {"ill": diversity_of(np.arange(given.rows) // 2, codes, whole, ordered=False)}
    if isinstance(need, Linked):
        return Links(Share(0.2, 0.1, 0.3), Share(0.4), {"a + b": BothWays(0.3, 0.2)})
    if isinstance(need, Taken):
        return (Measure(need.measure, 0.5),)
    raise AssertionError(f"no answer to {need}")


def taken(taker: Taker, x: Records, z: Records, paired: bool = True) -> list[Measure]:
    given = Given(statistics(x), k=5, paired=paired)
    known = Known()
    needs = taker.needs(given)
    for need in (*(own for one in needs for own in one.needs), *needs):
        known = known.with_answers({need: answer(need, x, z, given, known)})
    return taker.finish(given, known)


@takers
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("paired", [True, False])
def test_numbers_of_any_table(taker: Taker, kind: str, paired: bool) -> None:
    found = taken(taker, *a_table(kind), paired=paired)
    assert {one.measure for one in found} <= {about.key for about in gives(taker)}
    if kind == "plain":  # on other tables a measure may be undefined
        answered = {one.measure for one in found if one.column is None and one.value is not None}
        assert answered == {about.key for about in gives(taker)}
    keys = [(one.measure, one.column) for one in found]
    assert len(set(keys)) == len(keys)
    for one in found:
        for value in (one.value, one.low, one.high):
            assert value is None or (type(value) is float and math.isfinite(value)), one
        if one.value is not None and None not in (one.low, one.high):
            assert one.low <= one.value <= one.high
        unit = CATALOGUE[one.measure].unit
        if unit == "share" and one.value is not None:
            assert -1e-12 <= one.value <= 1 + 1e-12
    json.dumps([one.to_dict() for one in found], allow_nan=False)


@takers
@pytest.mark.parametrize("kind", ["plain", "nulls"])
def test_the_order_of_records_does_not_matter(taker: Taker, kind: str) -> None:
    x, z = a_table(kind)
    order = np.random.default_rng(1).permutation(60)
    shuffled = (tuple(column.rows(order) for column in side) for side in (x, z))
    moved = {(m.measure, m.column): m.value for m in taken(taker, *shuffled)}
    for one in taken(taker, x, z):
        if any(isinstance(n, Diversities) for n in taker.needs(Given(statistics(x), k=5))):
            continue  # the classes of this test are pairs of neighbours
        assert moved[one.measure, one.column] == pytest.approx(one.value, rel=1e-9, abs=1e-12)


@takers
def test_a_copy_loses_nothing(taker: Taker) -> None:
    """Every loss of a copy is 0, where lower is better."""
    x, _ = a_table("plain")
    for one in taken(taker, x, x):
        about = CATALOGUE[one.measure]
        if about.family == "loss" and about.better == "lower":
            assert one.value == pytest.approx(0.0, abs=1e-9), one


@takers
def test_words(taker: Taker) -> None:
    for about in gives(taker):
        assert about.family in FAMILIES
        for text in (about.key, about.title, about.formula, about.source, about.meaning):
            assert text.strip()
        assert about.meaning.endswith(".")
        assert about.conclude.endswith((".", "?"))
        sides = {"lower": {"max"}, "higher": {"min"}, "neither": {"min", "max"}}[about.better]
        assert {gate.partition("_")[0] for gate in about.gates} == sides
        assert set(about.gates) <= set(GATES)
        for side in {"min", "max"} - sides:
            problem = gate_problem(f"{side}_{about.key}")
            assert problem is not None
            assert about.direction in problem.message


@takers
def test_a_policy_in_yaml_or_json_can_say_it(taker: Taker) -> None:
    """With all of its parameters, whose tuples are lists there."""
    registry: Registry[Any] = MEASURES if type(taker) in MEASURES else ATTACKS
    assert registry.build(json.loads(json.dumps(registry.config(taker)))) == taker


@takers
def test_what_goes_out_is_coarse(taker: Taker) -> None:
    for about in gives(taker):
        shown = public(Measure(about.key, 0.123456), 1000, 5).value
        assert shown is None or shown == float(f"{shown:.2e}")
        assert (shown is None) == (about.outside == "private")
        column = public(Measure(about.key, 0.123456, "a"), 1000, 5).value
        assert column is None or about.per_column


def test_whoever_gives_a_measure_is_found_by_its_name() -> None:
    assert {kind.key for kind in (*MEASURES, *ATTACKS)} == set(TAKERS)
    for name in CATALOGUE:
        (taker,) = takers_of([name])
        assert name in {about.key for about in gives(taker)}
    (alias,) = takers_of(["k"])
    assert alias.key == "min_class_size"
