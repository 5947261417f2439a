"""Every registered grouping keeps the contract, whatever the data look like."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from sparkanon.engine.mask.masking import key_order
from sparkanon.engine.sql.names import KEY
from sparkanon.groupings import GROUPINGS, Crossing, Grouping, Mdav
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Labels

Maker = Callable[[np.random.Generator, int], Floats]

DATA: dict[str, Maker] = {
    "random": lambda rng, n: rng.normal(size=(3, n)),
    "one column": lambda rng, n: rng.normal(size=(1, n)),
    "many columns": lambda rng, n: rng.normal(size=(13, n)),
    "duplicated": lambda rng, n: rng.integers(0, 2, size=(2, n)).astype(float),
    "constant": lambda rng, n: np.full((2, n), 7.5),
    "collinear": lambda rng, n: np.outer([1.0, -2.0, 0.5], rng.normal(size=n)),
    "clustered": lambda rng, n: rng.integers(0, 9, size=(2, n)) + 1e-3 * rng.normal(size=(2, n)),
    "outlier": lambda rng, n: np.concatenate([[[1e12], [1.0]], rng.random((2, n - 1))], axis=1),
    "large": lambda rng, n: 1e9 + 1e9 * rng.random((2, n)),
    "far away": lambda rng, n: 1e9 + rng.random((2, n)),
    "huge": lambda rng, n: 1e60 * rng.normal(size=(2, n)),
    "overflowing": lambda rng, n: 1e200 * rng.normal(size=(2, n)),
    "tiny": lambda rng, n: 1e-60 * rng.normal(size=(2, n)),
}

# The contract does not ask how good a grouping is.
QUICK = {"ga": {"population": 10, "generations": 10}, "refined": {"passes": 2}}

# Their result may depend on the order of the rows even where no two distances are equal: a
# random search, or one that takes the rows as they come.
ORDERED = {"ga", "mdav_ga", "refined"}


def euclidean(name: str, n: int) -> Points:
    return Points.euclidean(DATA[name](np.random.default_rng(n), n))


def gower(n: int, categories: int = 9) -> Points:
    rng = np.random.default_rng(n)
    caps = np.array([0.5, 0.25, 0.25])
    numbers = np.where(rng.random(n) < 0.3, 2.0, rng.random(n))
    values = np.vstack([rng.random(n), numbers, rng.integers(0, categories, n)]) * caps[:, None]
    return Points(values, Metric.manhattan(caps, np.array([False, False, True])))


def nominal(n: int, columns: int, categories: int) -> Points:
    """Categories only: most records are as far apart as can be."""
    codes = np.random.default_rng(n).integers(0, categories, (columns, n)).astype(float)
    metric = Metric.manhattan(np.full(columns, 1 / columns), np.ones(columns, np.bool_))
    return Points(codes / columns, metric)


def rows_of(points: Points, rows: Labels) -> Points:
    return Points(np.ascontiguousarray(points.values[:, rows]), points.metric)


def grouped(grouping: Grouping, points: Points, k: int) -> Labels:
    return grouping.group(points, k, np.random.default_rng(0))


def check(grouping: Grouping, points: Points, k: int) -> None:
    before = points.values.copy()
    labels = grouped(grouping, points, k)
    assert labels.shape == (points.n,)
    assert labels.dtype == np.int32
    assert labels.min() == 0
    sizes = np.bincount(labels)
    assert sizes.min() >= k, "a group below k"
    if grouping.bounded:
        assert sizes.max() < 2 * k
    if points.n < 2 * k:
        assert len(sizes) == 1
    assert (points.values == before).all(), "the points were changed"
    again = grouping.group(points, k, np.random.default_rng(0 if grouping.random else 1))
    assert (labels == again).all(), "not deterministic"


@pytest.fixture(params=list(GROUPINGS), ids=GROUPINGS.keys())
def grouping(request: pytest.FixtureRequest) -> Grouping:
    made: Grouping = request.param(**QUICK.get(request.param.key, {}))
    return made


def many(grouping: Grouping) -> int:
    """Records of a test block of many leaves."""
    return min(5003, grouping.block_rows)


@pytest.mark.parametrize("data", DATA)
def test_partition_into_k_to_2k(grouping: Grouping, data: str) -> None:
    for k in range(2, 21):
        for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 5 * k - 1):
            check(grouping, euclidean(data, n), k)
    for k in (2, 7, 20):
        check(grouping, euclidean(data, 400), k)


def test_partition_with_nulls_and_categories(grouping: Grouping) -> None:
    for k in range(2, 21):
        for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 5 * k + 1):
            check(grouping, gower(n), k)
    for k in (2, 20):
        check(grouping, gower(min(1500, grouping.block_rows)), k)


@pytest.mark.parametrize(
    ("n", "columns", "categories"),
    [(66, 1, 4), (100, 2, 10), (300, 3, 12), (500, 1, 50), (1000, 2, 5000)],
)
def test_categories_alone(grouping: Grouping, n: int, columns: int, categories: int) -> None:
    for k in (2, 3, 9):
        check(grouping, nominal(n, columns, categories), k)


@pytest.mark.parametrize("data", ["random", "duplicated", "constant", "outlier"])
def test_blocks_of_many_leaves(grouping: Grouping, data: str) -> None:
    check(grouping, euclidean(data, many(grouping)), 4)


def test_many_records_nulls_and_categories(grouping: Grouping) -> None:
    check(grouping, gower(many(grouping)), 4)
    check(grouping, gower(many(grouping), categories=100_000), 3)


@pytest.mark.parametrize("k", [100, 399, 500, 1000])
def test_large_k(grouping: Grouping, k: int) -> None:
    check(grouping, euclidean("random", 1000), k)


def test_only_nulls(grouping: Grouping) -> None:
    metric = Metric.manhattan(np.full(2, 0.25), np.zeros(2, np.bool_))
    check(grouping, Points(np.full((2, 50), 0.5), metric), 3)


def test_read_only_arrays_are_served(grouping: Grouping) -> None:
    points = euclidean("random", 100)
    points.values.setflags(write=False)
    check(grouping, points, 3)


@pytest.mark.parametrize("points", [gower(300), euclidean("duplicated", 300)], ids=["g", "e"])
def test_rows_in_key_order_give_the_same_groups(grouping: Grouping, points: Points) -> None:
    rng = np.random.default_rng(7)
    keys = rng.permutation(points.n)
    expected = grouped(grouping, rows_of(points, np.argsort(keys)), 3)
    for _ in range(2):
        arrived = rng.permutation(points.n)
        order = arrived[key_order(pa.table({KEY: keys[arrived]}))]
        assert (grouped(grouping, rows_of(points, order), 3) == expected).all()


@pytest.mark.parametrize("grouping", [g for g in GROUPINGS if g.key not in ORDERED], indirect=True)
@pytest.mark.parametrize(("data", "n"), [("random", 400), ("clustered", 400), ("random", 2003)])
def test_shuffled_rows_without_ties_are_grouped_alike(
    grouping: Grouping, data: str, n: int
) -> None:
    points = euclidean(data, n)
    shuffled = np.random.default_rng(8).permutation(n)
    labels = grouped(grouping, points, 3)[shuffled]
    again = grouped(grouping, rows_of(points, shuffled), 3)
    pairs = np.unique(np.column_stack([labels, again]), axis=0)
    assert len(pairs) == labels.max() + 1 == again.max() + 1


@pytest.mark.parametrize("grouping", [g for g in GROUPINGS if hasattr(g, "go_on")], indirect=True)
@pytest.mark.parametrize("data", [*DATA, "gower"])
def test_going_on_keeps_the_contract_and_costs_no_more(grouping: Crossing, data: str) -> None:
    for k, n in ((3, 200), (2, 5), (5, 9), (20, 400)):
        points = gower(n) if data == "gower" else euclidean(data, n)
        # groups of two blocks, whose borders were nobody's choice
        half = n // 2
        labels = np.zeros(n, np.int32)
        if half >= k:
            first, second = np.arange(half), np.arange(half, n)
            labels[first] = grouped(Mdav(), rows_of(points, first), k)
            labels[second] = grouped(Mdav(), rows_of(points, second), k) + labels.max() + 1
        found = grouping.go_on(points, k, labels)
        sizes = np.bincount(found)
        assert found.shape == labels.shape
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        assert (found == grouping.go_on(points, k, labels)).all()
        if data in ("random", "collinear", "clustered", "many columns"):
            assert cost(points, found) <= cost(points, labels) * (1 + 1e-12)


def cost(points: Points, labels: Labels) -> float:
    values, sizes = points.values, np.bincount(labels)
    return sum(
        float(((row - (np.bincount(labels, row) / sizes)[labels]) ** 2).sum()) for row in values
    )


def test_specs_say_what_they_are(grouping: Grouping) -> None:
    assert grouping.title
    assert grouping.source
    assert grouping.block_rows >= 2000
    assert GROUPINGS.build(json.loads(json.dumps(GROUPINGS.config(grouping)))) == grouping
