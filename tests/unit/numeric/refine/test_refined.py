"""The parts of the refined grouping together: costs never rise, sizes hold."""

from __future__ import annotations

import numpy as np
import pytest
from brute import cost
from test_refine import SPACES, some_points

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.members import break_up
from sparkanon.numeric.points import Points
from sparkanon.numeric.refine import refined as module
from sparkanon.numeric.refine.chain import chain, tour
from sparkanon.numeric.refine.refined import along_a_path, anneal, listed, refine, refined, sweeps


def sizes_hold(labels: np.ndarray, k: int) -> None:
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("k", [2, 3, 8])
def test_annealing_gains_what_it_says(space: str, k: int) -> None:
    points = some_points(space, 500)
    values, metric = arrays(points)
    labels = refine(values, metric, k, mdav(values, metric, k), 6)
    before = cost(points, labels)
    for turn in range(3):
        labels, gained = anneal(values, metric, k, labels, turn)
        sizes_hold(labels, k)
        after = cost(points, labels)
        assert gained >= 0.0
        assert before - after == pytest.approx(gained, abs=1e-9)
        before = after


@pytest.mark.parametrize("space", SPACES)
def test_refined_is_better_than_local_search_alone(space: str) -> None:
    points, k = some_points(space, 600), 4
    values, metric = arrays(points)
    start = mdav(values, metric, k)
    local = refine(values, metric, k, start, 20)
    found = refined(values, metric, k, start, 6, 2)
    sizes_hold(found, k)
    assert cost(points, found) < 0.98 * cost(points, local)


@pytest.mark.parametrize("space", SPACES)
def test_every_group_is_a_stretch_of_the_path(space: str) -> None:
    points, k = some_points(space, 300), 4
    values, metric = arrays(points)
    labels = mdav(values, metric, k)
    groups, record, lists = listed(values, metric, k, labels, True)
    order = chain(groups, lists, record)
    assert sorted(order) == list(range(300))
    along = labels[order]
    assert (np.diff(along) != 0).sum() == labels.max()
    found = along_a_path(values, metric, k, labels)
    sizes_hold(found, k)
    assert cost(points, found) <= cost(points, labels) * (1 + 1e-12)


def test_a_tour_goes_to_the_nearest_that_was_not_visited() -> None:
    lists = np.array([[2, 1], [0, 2], [0, 1], [4, 0], [3, 0]], np.int32)
    assert tour(lists).tolist() == [0, 2, 1, 3, 4]


def test_large_groups_are_split_and_others_stay() -> None:
    values = np.array([[0.0, 1, 2, 50, 51, 52, 90, 91, 92, 93, 94, 7, 8]])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0], np.int32)
    points = Points.euclidean(values)
    found = break_up(mdav, *arrays(points), 2, labels)
    sizes_hold(found, 2)
    assert sorted(set(found)) == list(range(found.max() + 1))
    assert len(set(found[3:6])) == 1
    for label in range(found.max() + 1):
        assert len(set(labels[found == label])) == 1, "no group takes from two"
    assert (break_up(mdav, *arrays(points), 3, labels) == labels).all(), "nothing to split"


@pytest.mark.parametrize("space", SPACES)
def test_high_effort_serves_large_blocks(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", 1000)
    monkeypatch.setattr(module, "ANNEALED", 2500)
    assert [sweeps(n, False) for n in (1000, 1001, 1250, 2500, 2501)] == [4, 2, 2, 1, 0]
    assert (sweeps(1000, True), sweeps(2501, True)) == (48, 4)
    points, k = some_points(space, 3000), 5
    values, metric = arrays(points)
    start = module.own_start(values, metric, k)
    normal = refined(values, metric, k, start, 6, sweeps(3000, False))
    high = refined(values, metric, k, start, 6, sweeps(3000, True))
    sizes_hold(high, k)
    assert cost(points, high) < 0.98 * cost(points, normal)
