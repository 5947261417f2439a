"""Multivariate Hansen-Mukherjee: the cheapest groups along a path (Domingo-Ferrer et al. 2006)."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import apart, length
from sparkanon.numeric.group.groups import make_groups, total_cost
from sparkanon.numeric.group.path import optimal_path
from sparkanon.numeric.group.tour import ends, tour
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.members import Heuristic, members
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


@kernel
def middles(rows: Floats, metric: Metric, starts: Ints, records: Ints) -> Floats:
    """Centres (groups, d): centroids, or the members nearest to all others where there are none.

    O(n d), capped O(n k d).
    """
    groups, d = len(starts) - 1, rows.shape[1]
    out = np.zeros((groups, d))
    for g in range(groups):
        within = records[starts[g] : starts[g + 1]]
        if metric.capped:
            least, chosen = np.inf, within[0]
            for i in within:
                total = 0.0
                for o in within:
                    total += apart(rows, i, rows, o, metric)
                if total < least:
                    least, chosen = total, i
            out[g] = rows[chosen]
        else:
            for i in within:
                for j in range(d):
                    out[g, j] += rows[i, j]
            for j in range(d):
                out[g, j] /= len(within)
    return out


@kernel
def thread(
    rows: Floats, metric: Metric, starts: Ints, records: Ints, centres: Floats, groups: Ints
) -> Ints:
    """A path through the records, group after group in the order `groups`.

    The records of a group by how much nearer they are to the group before than to the one after.
    O(n (d + log k)).
    """
    order, filled = np.empty(len(records), np.int32), 0
    for at in range(len(groups)):
        within = records[starts[groups[at]] : starts[groups[at] + 1]]
        keys = np.zeros(len(within))
        for m in range(len(within)):
            if at > 0:
                near = apart(rows, within[m], centres, groups[at - 1], metric)
                keys[m] += length(metric, near)
            if at + 1 < len(groups):
                near = apart(rows, within[m], centres, groups[at + 1], metric)
                keys[m] -= length(metric, near)
        order[filled : filled + len(within)] = within[np.argsort(keys, kind="mergesort")]
        filled += len(within)
    return order


def cheaper(values: Floats, metric: Metric, k: int, one: Ints, other: Ints) -> Ints:
    """The labels of the cheapest groups along either of two paths."""
    found = [optimal_path(values, metric, order, k) for order in (one, other)]
    one_cost, other_cost = (
        total_cost(make_groups(values, metric, k, labels, 1024)[0]) for labels in found
    )
    return found[1] if other_cost < one_cost else found[0]


def npn_mhm(values: Floats, metric: Metric, k: int) -> Ints:
    """Labels along a path from a record to the nearest that is left, from either end."""
    one, other = (tour(values, metric, first) for first in ends(values, metric))
    return cheaper(values, metric, k, one, other)


def mhm(heuristic: Heuristic, values: Floats, metric: Metric, k: int) -> Ints:
    """Labels along a path through the groups of a heuristic, which cannot cost more than those.

    From either end, always to the group whose centre is nearest of those that are left.
    """
    starts, records = members(heuristic(values, metric, k))
    rows = np.ascontiguousarray(values.T)
    centres = middles(rows, metric, starts, records)
    points = np.ascontiguousarray(centres.T)
    one, other = (
        thread(rows, metric, starts, records, centres, tour(points, metric, first))
        for first in ends(points, metric)
    )
    return cheaper(values, metric, k, one, other)
