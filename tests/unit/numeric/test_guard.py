"""Rules on groups, against the measures that verify them, which are written apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.measures import diversity
from sparkanon.numeric.group.merge import merged
from sparkanon.numeric.group.mondrian import mondrian
from sparkanon.numeric.guard import (
    CLOSE,
    CLOSE_ORDERED,
    DISTINCT,
    ENTROPY,
    RECURSIVE,
    Guard,
    Rule,
    holds,
    make_guard,
)
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points

MEASURES = {
    DISTINCT: "l_distinct",
    ENTROPY: "l_entropy",
    RECURSIVE: "l_recursive",
    CLOSE: "t_closeness",
    CLOSE_ORDERED: "t_closeness",
}
LIMITS = {DISTINCT: 3.0, ENTROPY: 2.2, RECURSIVE: 2.0, CLOSE: 0.3, CLOSE_ORDERED: 0.2}


def guard_of(
    codes: np.ndarray, kind: int, limit: float, c: float = 2.0, nulls: bool = False
) -> Guard:
    return make_guard([Rule(kind, limit, c, codes.astype(np.int64), np.bincount(codes), nulls)])


def measured(labels: np.ndarray, codes: np.ndarray, kind: int) -> float:
    counts = np.bincount(codes)
    found = diversity.local(labels, codes, counts, ordered=kind == CLOSE_ORDERED)
    return float(getattr(found, MEASURES[kind]))


def keeps(value: float, kind: int, limit: float) -> bool:
    return value <= limit if MEASURES[kind] == "t_closeness" else value >= limit


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """Codes of a table that occur all, and the size of a group at its front."""
    m = draw(st.integers(1, 6))
    more = draw(st.lists(st.integers(0, m - 1), min_size=1, max_size=30))
    codes = np.array(draw(st.permutations([*range(m), *more])))
    return codes, draw(st.integers(1, len(codes)))


@pytest.mark.parametrize(
    ("kind", "nulls"), [*((kind, False) for kind in MEASURES), (CLOSE_ORDERED, True)]
)
@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_group_is_judged_as_the_measures_judge_it(
    kind: int, nulls: bool, table: tuple[np.ndarray, int]
) -> None:
    codes, size = table
    members, rest = np.arange(size, dtype=np.int32), np.zeros(size, np.int64)
    counts, ordered = np.bincount(codes), kind == CLOSE_ORDERED
    found = diversity.local(rest, codes[:size], counts, ordered=ordered, nulls=nulls)
    value = float(getattr(found, MEASURES[kind]))
    stricter = -1.0 if MEASURES[kind] == "t_closeness" else 1.0
    whole = kind in (DISTINCT, RECURSIVE)
    rounding, step = (0.0, 1.0) if whole else (1e-9, 1e-6)
    below, above = value - stricter * rounding, value + stricter * step
    assert holds(guard_of(codes, kind, below, nulls=nulls), members)
    assert not holds(guard_of(codes, kind, above, nulls=nulls), members)


def test_by_hand() -> None:
    codes = np.array([0, 0, 0, 1, 1, 2])  # shares 3/6, 2/6, 1/6
    group = np.array([0, 1, 3], np.int32)  # values 0, 0, 1: shares 2/3, 1/3, 0
    assert holds(guard_of(codes, DISTINCT, 2), group)
    assert not holds(guard_of(codes, DISTINCT, 3), group)
    # nominal: (2/3 - 3/6) = 1/6; ordered: (|1/6| + |1 - 5/6|) / 2 = 1/6
    for kind in (CLOSE, CLOSE_ORDERED):
        assert holds(guard_of(codes, kind, 1 / 6), group)
        assert not holds(guard_of(codes, kind, 0.166), group)
    # recursive, c = 2: 2 < 2 * (2 + 1) for l = 1 and 2 < 2 * 1 fails for l = 2
    assert not holds(guard_of(codes, RECURSIVE, 2), group)
    assert holds(guard_of(codes, RECURSIVE, 2, c=2.1), group)
    # exp(entropy) of 2/3, 1/3 is 3 / 2^(2/3)
    assert holds(guard_of(codes, ENTROPY, 3 / 2 ** (2 / 3)), group)
    assert not holds(guard_of(codes, ENTROPY, 1.9), group)


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("kind", MEASURES)
def test_groups_are_joined_until_the_rule_holds(kind: int, capped: bool) -> None:
    rng = np.random.default_rng(kind)
    n, limit = 600, LIMITS[kind]
    codes = rng.choice(6, size=n, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    values, labels = rng.random((3, n)), (np.arange(n) // 4).astype(np.int32)
    assert not keeps(measured(labels, codes, kind), kind, limit), "nothing to do"
    metric = Metric.manhattan(np.ones(3), np.zeros(3, np.bool_)) if capped else Metric.euclidean(3)
    points = Points(values, metric, guard_of(codes, kind, limit))
    joined = merged(points, labels)
    assert joined is not None
    assert keeps(measured(joined, codes, kind), kind, limit)
    assert sorted(set(joined.tolist())) == list(range(joined.max() + 1))
    assert joined.max() > 3, "more was joined than had to be"
    for group in range(labels.max() + 1):
        assert len(set(joined[labels == group])) == 1, "a group was split"


def test_the_nearest_group_is_joined() -> None:
    values = np.array([[0.0, 0.1, 5.0, 5.1, 9.0, 9.1, 6.0, 6.1]])
    codes = np.array([0, 1, 0, 0, 0, 1, 0, 1])
    labels = np.repeat(np.arange(4, dtype=np.int32), 2)
    points = Points.euclidean(values)
    points = replace(points, guard=guard_of(codes, DISTINCT, 2))
    joined = merged(points, labels)
    assert joined is not None
    assert joined.tolist() == [0, 0, 1, 1, 2, 2, 1, 1]


def test_what_no_group_can_keep() -> None:
    points = Points.euclidean(np.arange(10.0).reshape(1, 10))
    points = replace(points, guard=guard_of(np.zeros(10, np.int64), DISTINCT, 2))
    assert merged(points, np.repeat(np.arange(2, dtype=np.int32), 5)) is None


@pytest.mark.parametrize("kind", MEASURES)
def test_mondrian_cuts_only_where_both_sides_keep_the_rule(kind: int) -> None:
    rng = np.random.default_rng(7)
    n, limit = 800, LIMITS[kind]
    codes = rng.choice(6, size=n, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    values = rng.random((3, n))
    labels = mondrian(values, 4, guard_of(codes, kind, limit))
    assert keeps(measured(labels, codes, kind), kind, limit)
    assert labels.max() > 10
    assert np.bincount(labels).min() >= 4
