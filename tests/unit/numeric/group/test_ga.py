"""The genetic algorithm piece by piece, and that it gets somewhere."""

from __future__ import annotations

import numpy as np
import pytest
from brute import cost
from test_fixed_size import gower

from sparkanon.groupings.ga import Ga
from sparkanon.groupings.mdav_ga import MdavGa
from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.ga import LOOSE, cost_of, form, make_case, mutate, repair, spin
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def repaired(values: list[float], genes: list[int], k: int) -> list[int]:
    case = make_case(np.array([values]), Metric.euclidean(1), k)
    made = np.array(genes, np.int32)
    repair(case, k, made, np.random.default_rng(0))
    return [int(gene) for gene in made]


def test_the_lists_of_neighbours_are_sorted() -> None:
    case = make_case(np.array([[0.0, 1, 3, 7]]), Metric.euclidean(1), 2)
    assert case.near.tolist() == [[1, 2, 3], [0, 2, 3], [1, 0, 3], [2, 1, 0]]


def test_a_group_of_the_nearest_in_the_pool_by_hand() -> None:
    # Pool 0 4 5 6 9, seed 5, k = 3: {4, 5, 6}. 0 and 9 stay and stand first.
    case = make_case(np.array([[0.0, 4, 5, 6, 9]]), Metric.euclidean(1), 2)
    case.pool[0], case.ids[:] = [0.0, 4, 5, 6, 9], range(5)
    genes = np.full(5, LOOSE, np.int32)
    assert form(case, 3, 5, 2, genes, 7) == 2
    assert genes.tolist() == [LOOSE, 7, 7, 7, LOOSE]
    assert sorted(zip(case.ids[:2], case.pool[0, :2], strict=True)) == [(0, 0.0), (4, 9.0)]


def test_good_genes_are_only_numbered_anew() -> None:
    assert repaired([0.0, 10, 1, 11], [1, 0, 1, 0], 2) == [0, 1, 0, 1]


def test_too_few_fall_apart_and_join_their_nearest_by_hand() -> None:
    # k = 2, group 2 has one record, 9, whose nearest is 10: {0, 1}, {10, 11, 9}.
    assert repaired([0.0, 1, 10, 11, 9], [0, 0, 1, 1, 2], 2) == [0, 0, 1, 1, 1]


def test_a_full_group_is_split_by_hand() -> None:
    # k = 2, {0, 1, 5} is full and the loose 6 is nearest to 5: {5, 6} are a group of their own.
    assert repaired([0.0, 1, 5, 6], [0, 0, 0, LOOSE], 2) == [0, 0, 1, 1]


@pytest.mark.parametrize("k", [2, 3, 8])
def test_any_genes_become_groups_of_k_to_2k(k: int) -> None:
    rng = np.random.default_rng(k)
    for points in (Points.euclidean(rng.normal(size=(3, 101))), gower(rng, 101)):
        values, metric = arrays(points)
        case = make_case(values, metric, k)
        for spread in (0, 3, 101 // k):
            for _ in range(20):
                codes = rng.integers(LOOSE, 2 * (101 // k), 101) if spread == 0 else None
                whole = np.repeat(np.arange(101 // k), k)[:101]
                genes = np.concatenate([whole, np.full(101 - len(whole), LOOSE)])
                if codes is None:
                    genes[rng.integers(0, 101, spread)] = LOOSE
                else:  # no code may have 2k records or more, as in parents
                    genes = np.where(np.bincount(codes + 1)[codes + 1] < 2 * k, codes, LOOSE)
                made = rng.permutation(genes).astype(np.int32)
                repair(case, k, made, rng)
                sizes = np.bincount(made)
                assert k <= sizes.min() <= sizes.max() < 2 * k


def test_cost_is_the_brute_force_cost() -> None:
    rng = np.random.default_rng(5)
    labels = rng.permutation(np.arange(60) % 12).astype(np.int32)
    for points in (Points.euclidean(rng.normal(size=(5, 60))), gower(rng, 60)):
        values, metric = arrays(points)
        found = cost_of(make_case(values, metric, 5), labels)
        assert found == pytest.approx(cost(points, labels))


def test_a_mutation_exchanges_two_records() -> None:
    rng = np.random.default_rng(6)
    case = make_case(rng.normal(size=(2, 30)), Metric.euclidean(2), 3)
    before = np.arange(30, dtype=np.int32) // 3
    moved = set()
    for _ in range(200):
        genes = before.copy()
        mutate(case, genes, rng)
        changed = np.flatnonzero(genes != before)
        assert len(changed) in (0, 2)
        assert sorted(genes[changed]) == sorted(before[changed])
        moved.update(changed.tolist())
    assert moved == set(range(30))


def test_the_wheel_is_fair() -> None:
    # Slots of 1, 0, 3 and 4 of 8; 4,000 spins, 5 standard deviations.
    rng = np.random.default_rng(7)
    wheel = np.cumsum([1.0, 0, 3, 4])
    counts = np.bincount([spin(wheel, rng) for _ in range(4000)], minlength=4)
    shares = np.array([1, 0, 3, 4]) / 8
    assert (np.abs(counts - 4000 * shares) <= 5 * np.sqrt(4000 * shares * (1 - shares))).all()
    assert {spin(np.zeros(3), rng) for _ in range(100)} == {0, 1, 2}


def grouped(kind: Ga | MdavGa, points: Points, seed: int) -> Labels:
    return kind.group(points, 3, np.random.default_rng(seed))


def test_generations_improve_on_the_start() -> None:
    rng = np.random.default_rng(8)
    for points in (Points.euclidean(rng.normal(size=(3, 120))), gower(rng, 120)):
        start = cost(points, grouped(Ga(generations=0), points, 1))
        some = cost(points, grouped(Ga(generations=10), points, 1))
        many = cost(points, grouped(Ga(), points, 1))
        assert many < some < start
        assert many < 0.97 * start


def test_without_crossover_and_mutation_the_best_of_the_start_is_all() -> None:
    points = Points.euclidean(np.random.default_rng(9).normal(size=(3, 60)))
    start = grouped(Ga(generations=0), points, 2)
    assert (grouped(Ga(mutation=0.0, crossover=0.0), points, 2) == start).all()


@pytest.mark.parametrize("kind", [Ga(), MdavGa()])
def test_the_seed_decides(kind: Ga | MdavGa) -> None:
    points = Points.euclidean(np.random.default_rng(10).normal(size=(3, 200)))
    assert (grouped(kind, points, 1) == grouped(kind, points, 1)).all()
    assert (grouped(kind, points, 1) != grouped(kind, points, 2)).any()


def test_clear_clusters_are_found() -> None:
    rng = np.random.default_rng(11)
    truth = rng.permutation(np.repeat(np.arange(5), [3, 4, 5, 3, 4]))
    points = Points.euclidean(100.0 * truth + rng.random((2, 19)))
    labels = grouped(Ga(), points, 3)
    assert len({(int(a), int(b)) for a, b in zip(labels, truth, strict=True)}) == 5


def test_the_hybrid_is_better_than_mdav() -> None:
    rng = np.random.default_rng(12)
    for points in (Points.euclidean(rng.normal(size=(4, 301))), gower(rng, 301)):
        given = cost(points, mdav(*arrays(points), 3))
        assert cost(points, grouped(MdavGa(), points, 4)) < 0.99 * given
