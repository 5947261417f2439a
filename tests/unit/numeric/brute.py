"""Fixed-size methods as written on paper, in numpy: what the kernels must reproduce."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Labels


def distance_matrix(points: Points) -> Floats:
    """All distances (n, n)."""
    gaps = np.abs(points.values[:, :, None] - points.values[:, None, :])
    if not points.metric.capped:
        return np.asarray((gaps**2).sum(axis=0))
    return np.asarray(np.minimum(gaps, points.metric.caps[:, None, None]).sum(axis=0))


def distances_to(points: Points, where: Floats) -> Floats:
    gaps = np.abs(points.values - where[:, None])
    if not points.metric.capped:
        return np.asarray((gaps**2).sum(axis=0))
    return np.asarray(np.minimum(gaps, points.metric.caps[:, None]).sum(axis=0))


def centre_of(points: Points, left: list[int]) -> Floats:
    """Mean of the numbers, null where most are null, the lowest most frequent code."""
    centre = np.empty(points.d)
    for j in range(points.d):
        values = points.values[j, left]
        if not points.metric.capped:
            centre[j] = values.mean()
        elif points.metric.codes[j]:
            codes, counts = np.unique(values, return_counts=True)
            centre[j] = codes[np.argmax(counts)]
        else:
            numbers = values[values <= 1.5 * points.metric.caps[j]]
            most_null = 2 * len(numbers) < len(values)
            centre[j] = 2 * points.metric.caps[j] if most_null else numbers.mean()
    return centre


class Remaining:
    """The records that have no label yet."""

    def __init__(self, points: Points, k: int) -> None:
        self.points, self.k = points, k
        self.between = distance_matrix(points)
        self.labels = np.full(points.n, -1, dtype=np.int32)
        self.left = list(range(points.n))
        self.label = 0

    def group_around(self, seed: int) -> None:
        order = sorted(self.left, key=lambda i: (i != seed, self.between[seed, i], i))
        self.labels[order[: self.k]] = self.label
        self.left = [i for i in self.left if self.labels[i] < 0]
        self.label += 1

    def furthest(self, near: Floats) -> int:
        return min(self.left, key=lambda i: (-near[i], i))

    def furthest_from_centre(self) -> int:
        return self.furthest(distances_to(self.points, centre_of(self.points, self.left)))

    def end_of_furthest_pair(self) -> int:
        """The end that is further from the centre."""
        between = self.between[np.ix_(self.left, self.left)]
        first, second = np.unravel_index(between.argmax(), between.shape)
        near = distances_to(self.points, centre_of(self.points, self.left))
        return max(self.left[first], self.left[second], key=lambda i: (near[i], -i))

    def finish(self) -> Labels:
        self.labels[self.left] = self.label
        return self.labels


def two_by_two(points: Points, k: int, seed: Callable[[Remaining], int]) -> Labels:
    """A group around the seed and one around the record furthest from it, again and again."""
    rest = Remaining(points, k)
    while len(rest.left) >= 3 * k:
        first = seed(rest)
        rest.group_around(first)
        rest.group_around(rest.furthest(rest.between[first]))
    if len(rest.left) >= 2 * k:
        rest.group_around(seed(rest))
    return rest.finish()


def brute_mdav(points: Points, k: int) -> Labels:
    return two_by_two(points, k, Remaining.furthest_from_centre)


def brute_cbfs(points: Points, k: int) -> Labels:
    rest = Remaining(points, k)
    while len(rest.left) >= 2 * k:
        rest.group_around(rest.furthest_from_centre())
    return rest.finish()


def brute_md(points: Points, k: int) -> Labels:
    return two_by_two(points, k, Remaining.end_of_furthest_pair)


def cost(points: Points, labels: Labels) -> float:
    """Sum over the groups of (distances of all pairs) / size; SSE for squared Euclidean."""
    total = 0.0
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        sub = Points(points.values[:, members], points.metric)
        total += distance_matrix(sub).sum() / 2 / len(members)
    return total


def away(between: Floats, i: int, members: list[int]) -> float:
    """e(i, g) of `numeric/group/groups.py` from a matrix of distances."""
    inside = between[np.ix_(members, members)].sum() / 2 / len(members)
    return float((between[i, members].sum() - inside) / len(members))


def brute_spread(points: Points, labels: Labels, k: int) -> Labels:
    """Leftovers, labelled -1, one by one to the nearest group of fewer than 2k-1."""
    between, labels = distance_matrix(points), labels.copy()
    for i in np.flatnonzero(labels < 0):
        groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
        room = [g for g in range(len(groups)) if len(groups[g]) < 2 * k - 1]
        labels[i] = min(room, key=lambda g: away(between, i, groups[g]))
    return labels
