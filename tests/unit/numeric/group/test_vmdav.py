"""V-MDAV by hand, and against the paper's algorithm in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from brute import brute_spread, centre_of, cost, distance_matrix, distances_to
from sample_points import CASES, euclidean

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.vmdav import GAMMAS, region, vmdav
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Labels


def brute_vmdav(points: Points, k: int, gamma: float) -> Labels:
    between = distance_matrix(points)
    lengths = between if points.metric.capped else np.sqrt(between)
    left = list(range(points.n))
    far = distances_to(points, centre_of(points, left))
    labels, label = np.full(points.n, -1, np.int32), 0
    while len(left) >= k:
        seed = min(left, key=lambda i: (-far[i], i))
        group = sorted(left, key=lambda i: (i != seed, between[seed, i], i))[:k]
        left = [i for i in left if i not in group]
        while len(group) < 2 * k - 1 and len(left) > k:
            inside = lengths[np.ix_(group, left)].min(axis=0)
            near = left[int(inside.argmin())]
            outside = min(lengths[near, i] for i in left if i != near)
            if not inside.min() < gamma * outside:
                break
            group.append(near)
            left.remove(near)
        labels[group] = label
        label += 1
    return brute_spread(points, labels, k)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("k", "gamma"), [(2, 1.1), (3, 0.0), (5, 0.5), (5, 1.1), (7, 3.0)])
def test_equals_brute_force(case: str, k: int, gamma: float) -> None:
    points = CASES[case]
    assert (vmdav(*arrays(points), k, gamma) == brute_vmdav(points, k, gamma)).all()


def test_extension_by_hand() -> None:
    # 0 1 2 | 10 11 | 20 21, k = 2, mean 65 / 7 = 9.29. Furthest is 21: {21, 20}; nearest to it
    # is 11, 9 away, and 11 has 10 at 1: no extension. Furthest then is 0: {0, 1}; nearest is 2,
    # 1 away, whose nearest other is 10 at 8: 1 < 8, so {0, 1, 2}. The last two: {10, 11}.
    points = Points.euclidean(np.array([[0.0, 1, 2, 10, 11, 20, 21]]))
    assert vmdav(*arrays(points), 2, 1.0).tolist() == [1, 1, 1, 2, 2, 0, 0]
    # 1 < 0.1 * 8 does not hold: {0, 1}; furthest then is 2: {2, 10}; 11 is left over and 5 away
    # from the centroid of {2, 10}, 9.5 from that of {20, 21}, 10.5 from that of {0, 1}.
    assert vmdav(*arrays(points), 2, 0.1).tolist() == [1, 1, 2, 2, 2, 0, 0]


@pytest.mark.parametrize("case", ["203", "clustered", "capped"])
def test_auto_takes_the_gamma_of_least_cost(case: str) -> None:
    points = CASES[case]
    costs = [cost(points, vmdav(*arrays(points), 3, gamma)) for gamma in GAMMAS]
    assert cost(points, vmdav(*arrays(points), 3, None)) == pytest.approx(min(costs))


def test_auto_in_a_large_block_is_never_worse_than_no_extension() -> None:
    # The outskirts are far apart, the region of the trial is dense.
    values = np.exp(1.5 * np.random.default_rng(1).normal(size=(4, 6000)))
    points = Points.euclidean(values)
    plain, auto = (vmdav(*arrays(points), 5, gamma) for gamma in (0.0, None))
    assert cost(points, auto) <= cost(points, plain)


def test_a_region_are_the_records_around_the_one_halfway_out() -> None:
    points = euclidean(1000, 2)
    far = distances_to(points, points.values.mean(axis=1))
    halfway = points.values[:, np.argsort(-far)[500]]
    chosen = np.sort(np.argsort(distances_to(points, halfway))[:300])
    assert (region(*arrays(points), 300) == points.values[:, chosen]).all()
    assert region(*arrays(points), 1000) is points.values
