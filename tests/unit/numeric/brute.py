"""MDAV as written on paper, a numpy line a step: what the kernels must reproduce."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Labels


def distance_matrix(points: Points) -> Floats:
    """All distances (n, n)."""
    gaps = np.abs(points.values[:, :, None] - points.values[:, None, :])
    if points.caps is None:
        return np.asarray((gaps**2).sum(axis=0))
    return np.asarray(np.minimum(gaps, points.caps[:, None, None]).sum(axis=0))


def distances_to(points: Points, where: Floats) -> Floats:
    gaps = np.abs(points.values - where[:, None])
    if points.caps is None:
        return np.asarray((gaps**2).sum(axis=0))
    return np.asarray(np.minimum(gaps, points.caps[:, None]).sum(axis=0))


def centre_of(points: Points, left: list[int]) -> Floats:
    """Mean of the numbers, null where most are null, the lowest most frequent code."""
    centre = np.empty(points.d)
    for j in range(points.d):
        values = points.values[j, left]
        if points.caps is None:
            centre[j] = values.mean()
        elif points.codes[j]:
            codes, counts = np.unique(values, return_counts=True)
            centre[j] = codes[np.argmax(counts)]
        else:
            numbers = values[values <= 1.5 * points.caps[j]]
            most_null = 2 * len(numbers) < len(values)
            centre[j] = 2 * points.caps[j] if most_null else numbers.mean()
    return centre


def brute_mdav(points: Points, k: int) -> Labels:
    labels = np.full(points.n, -1, dtype=np.int32)
    between = distance_matrix(points)
    left = list(range(points.n))
    label = 0

    def group_around(seed: int) -> None:
        nonlocal left, label
        order = sorted(left, key=lambda i: (i != seed, between[seed, i], i))
        labels[order[:k]] = label
        left = [i for i in left if labels[i] < 0]
        label += 1

    def furthest(near: Floats) -> int:
        return min(left, key=lambda i: (-near[i], i))

    while len(left) >= 3 * k:
        first = furthest(distances_to(points, centre_of(points, left)))
        group_around(first)
        group_around(furthest(between[first]))
    if len(left) >= 2 * k:
        group_around(furthest(distances_to(points, centre_of(points, left))))
    labels[left] = label
    return labels


def cost(points: Points, labels: Labels) -> float:
    """Sum over the groups of (distances of all pairs) / size; SSE for squared Euclidean."""
    total = 0.0
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        sub = Points(points.values[:, members], points.caps, points.codes)
        total += distance_matrix(sub).sum() / 2 / len(members)
    return total


def away(between: Floats, i: int, members: list[int]) -> float:
    """e(i, g) of `numeric/groups.py` from a matrix of distances."""
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
