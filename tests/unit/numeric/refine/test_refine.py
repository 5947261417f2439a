"""The steps of the local search, each against a recount of the whole cost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from brute import cost
from test_mdav import gower

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.groups import cost as group_cost
from sparkanon.numeric.group.groups import make_groups
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.group.peel import peel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.refine import refined as module
from sparkanon.numeric.refine.descent import best_step, between, step
from sparkanon.numeric.refine.refined import own_start, refine, refined
from sparkanon.numeric.search.leaves import principal, split


def some_points(name: str, n: int) -> Points:
    rng = np.random.default_rng(n)
    return Points.euclidean(rng.normal(size=(3, n))) if name == "euclidean" else gower(rng, n)


SPACES = ("euclidean", "gower")


@pytest.mark.parametrize("space", SPACES)
def test_group_cost_is_the_sum_over_pairs(space: str) -> None:
    points, k = some_points(space, 60), 4
    values, metric = arrays(points)
    labels = mdav(values, metric, k)
    groups, _, _, _ = make_groups(values, metric, k, labels, 32)
    total = sum(group_cost(groups, g) for g in range(len(groups.size)))
    assert total == pytest.approx(cost(points, labels), rel=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_the_best_step_of_a_pair_is_the_best_of_all_swaps(space: str) -> None:
    points, k = some_points(space, 8), 4
    values, metric = arrays(points)
    labels = np.array([0, 1] * 4, dtype=np.int32)
    best = cost(points, labels)
    for i in range(8):
        for j in range(8):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            best = min(best, cost(points, swapped))
    groups, _, _, _ = make_groups(values, metric, k, labels, 32)
    near = np.empty((8, 8))
    between(groups, 0, 1, np.zeros((len(values), 8)), near)
    slots = best_step(groups, k, 0, 1, near, np.empty(8))
    assert min(slots) >= 0, "equal sizes of k allow swaps only"
    step(groups, 0, 1, *slots)
    assert group_cost(groups, 0) + group_cost(groups, 1) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("n", [100, 700])
def test_no_pass_raises_the_cost(space: str, n: int) -> None:
    points, k = some_points(space, n), 3
    values, metric = arrays(points)
    start = mdav(values, metric, k)
    costs = [cost(points, start)]
    for passes in (1, 2, 3, 6, 20):
        costs.append(cost(points, refine(values, metric, k, start, passes)))
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(costs))
    assert costs[-1] < 0.98 * costs[0], "on random data there is always something to gain"


@pytest.mark.parametrize("space", SPACES)
def test_peeling_is_about_as_good_as_mdav(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, k = some_points(space, 3000), 5
    peeled, exact = peel(*arrays(points), k), mdav(*arrays(points), k)
    assert np.bincount(peeled).min() == k
    assert cost(points, peeled) < 1.1 * cost(points, exact)
    monkeypatch.setattr(module, "WHOLE", 1000)
    values, metric = arrays(points)
    labels = own_start(values, metric, k)
    assert (labels == peeled).all()
    assert cost(points, refined(values, metric, k, labels, 6, 0)) < cost(points, exact)


def test_a_group_that_lies_between_others_is_dissolved() -> None:
    # Two clumps of four and a group of four with two members in each: no swap can mend it.
    clump = np.array([0.0, 0.1, 0.2, 0.3])
    between = [0.15, 0.25, 100.15, 100.25]
    points = Points.euclidean(np.concatenate([clump, clump + 100, between])[None])
    labels = np.repeat(np.arange(3, dtype=np.int32), 4)
    values, metric = arrays(points)
    found = refine(values, metric, 4, labels, 6)
    left, right = set(found[[0, 1, 2, 3, 8, 9]]), set(found[[4, 5, 6, 7, 10, 11]])
    assert len(left) == len(right) == 1
    assert left != right


def test_the_principal_direction_is_found() -> None:
    along = np.random.default_rng(0).normal(size=2000)
    noise = np.random.default_rng(1).normal(size=(3, 2000)) * 0.01
    direction = principal(np.outer([3.0, -2.0, 1.0], along) + noise, 0, 2000, 0)
    assert np.abs(direction / direction[0] - [1, -2 / 3, 1 / 3]).max() < 0.01


@pytest.mark.parametrize(
    "metric", [Metric.euclidean(3), Metric.manhattan(np.ones(3), np.zeros(3, np.bool_))]
)
def test_split_keeps_records_and_sizes(metric: Metric) -> None:
    values = np.random.default_rng(4).random((3, 1003))
    moved = values.copy()
    order, bounds = split(moved, metric, 64, 5, 0)
    assert sorted(order) == list(range(1003))
    assert (moved == values[:, order]).all()
    assert np.diff(bounds).max() <= 64
    assert (bounds[:-1] % 5 == 0).all()
