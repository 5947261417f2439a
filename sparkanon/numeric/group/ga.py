"""A genetic algorithm that groups records: Solanas 2008, for any distance of `Points`.

A chromosome has a gene for every record, its group (n-ary coding). Records stand in an order in
which neighbours are near each other, so that a stretch of genes is a region.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import apart, distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats
from sparkanon.numeric.search.leaves import select, split
from sparkanon.numeric.search.neighbours import keep_least

NEAR = 8  # neighbours of a record that are known
LOOSE = -1  # a gene without a group
PATIENCE = 30  # generations in a row that bring nothing: the end


class Case(NamedTuple):
    """The records, and room to work in."""

    rows: Floats  # (n, d)
    metric: Metric
    near: Ints  # (n, NEAR) the nearest other records, -1 where unknown
    size: Ints  # (codes,) scratch: sizes or new names of groups
    centre: Floats  # (groups, d) scratch
    pool: Floats  # (d, n) scratch: records without a group
    ids: Ints  # (n,) scratch: who they are
    away: Floats  # (n,) scratch: distances
    order: Ints  # (n,) scratch
    point: Floats  # (d,) scratch


@kernel
def make_case(values: Floats, metric: Metric, k: int) -> Case:
    """The case of the records of `values` (d, n); O(n^2 d)."""
    d, n = values.shape
    lists = np.full((n, min(NEAR, n - 1)), -1, np.int32)
    near, best, point = np.empty(n), np.empty(lists.shape[1]), np.empty(d)
    for i in range(n):
        for j in range(d):
            point[j] = values[j, i]
        distances(values, metric, point, n, near)
        near[i] = np.inf
        best[:] = np.inf
        keep_least(near, near.view(np.int64), n, 0, best, lists[i])
    return Case(
        np.ascontiguousarray(values.T),
        metric,
        lists,
        np.empty(first_new(n, k) + n // k, np.int32),
        np.empty((n // k, d)),
        np.empty((d, n)),
        np.empty(n, np.int32),
        near,
        np.empty(n, np.int32),
        point,
    )


@tight
def first_new(n: int, k: int) -> int:
    """The first code for new groups, behind those of two parents."""
    return 2 * (n // k)


@tight
def form(case: Case, k: int, count: int, seed: int, genes: Ints, group: int) -> int:
    """Make a group of the `seed`-th of the `count` records of the pool and its k-1 nearest.

    Returns how many are left in the pool. O(count d).
    """
    pool, ids, away, order, point = case.pool, case.ids, case.away, case.order, case.point
    for j in range(len(point)):
        point[j] = pool[j, seed]
    distances(pool, case.metric, point, count, away)
    away[seed] = -1.0
    for at in range(count):
        order[at] = at
    select(away[:count], order[:count], k)
    for a in range(k):
        genes[ids[order[a]]] = group
        ids[order[a]] = -1
    left, last = count - k, count
    for a in range(k):  # the last ones fill the gaps
        if order[a] >= left:
            continue
        last -= 1
        while ids[last] < 0:
            last -= 1
        ids[order[a]] = ids[last]
        for j in range(len(point)):
            pool[j, order[a]] = pool[j, last]
    return left


@tight
def nearest_group(case: Case, genes: Ints, i: int) -> int:
    """The group of the nearest record that has one; O(NEAR), seldom O(n d)."""
    for o in case.near[i]:
        if o >= 0 and genes[o] != LOOSE:
            return int(genes[o])
    least, group = np.inf, LOOSE
    for o in range(len(genes)):
        if genes[o] != LOOSE:
            away = apart(case.rows, i, case.rows, o, case.metric)
            if away < least or group == LOOSE:
                least, group = away, genes[o]
    return group


@tight
def gather(case: Case, k: int, genes: Ints) -> int:
    """Put the records without a group of k into the pool; returns how many. O(n)."""
    size, pool, ids, count = case.size, case.pool, case.ids, 0
    size[:] = 0
    for i in range(len(genes)):
        if genes[i] != LOOSE:
            size[genes[i]] += 1
    for i in range(len(genes)):
        if genes[i] == LOOSE or size[genes[i]] < k:
            genes[i], ids[count] = LOOSE, i
            for j in range(pool.shape[0]):
                pool[j, count] = case.rows[i, j]
            count += 1
    return count


@kernel
def repair(case: Case, k: int, genes: Ints, rng: np.random.Generator) -> None:
    """Make groups of k..2k-1 of any genes, numbered 0, 1, ... as they first occur.

    Groups of fewer than k fall apart. Of their records a random one gets the k-1 nearest while
    there are k, the last go to the group of their nearest record, which is split if it is full.
    """
    size, ids, pool, new = case.size, case.ids, case.pool, first_new(len(genes), k)
    loose = gather(case, k, genes)
    while loose >= k:
        loose = form(case, k, loose, int(rng.random() * loose), genes, new)
        size[new] = k
        new += 1
    for i in ids[:loose].copy():
        group = nearest_group(case, genes, i)
        genes[i] = group
        size[group] += 1
        if size[group] == 2 * k:
            count, seed = 0, 0
            for o in range(len(genes)):
                if genes[o] == group:
                    seed = count if o == i else seed
                    ids[count] = o
                    for j in range(pool.shape[0]):
                        pool[j, count] = case.rows[o, j]
                    count += 1
            form(case, k, count, seed, genes, new)
            size[group], size[new] = k, k
            new += 1
    size[:] = -1
    label = 0
    for i in range(len(genes)):
        if size[genes[i]] < 0:
            size[genes[i]] = label
            label += 1
        genes[i] = size[genes[i]]


@tight
def cost_of(case: Case, genes: Ints) -> float:
    """Sum over the groups of (distances of all pairs) / size: the sum of squared errors.

    O(n d), capped O(n k d).
    """
    rows, metric, size, centre = case.rows, case.metric, case.size, case.centre
    first, after, total = case.ids, case.order, 0.0
    n, d = rows.shape
    size[:] = 0
    for i in range(n):
        size[genes[i]] += 1
    if metric.capped:
        first[:] = -1
        for i in range(n):
            g = genes[i]
            o, pairs = first[g], 0.0
            while o >= 0:
                pairs += apart(rows, i, rows, o, metric)
                o = after[o]
            total += pairs / size[g]
            after[i], first[g] = first[g], i
        return total
    centre[:] = 0.0
    for i in range(n):
        for j in range(d):
            centre[genes[i], j] += rows[i, j]
    for g in range(len(centre)):
        for j in range(d):
            centre[g, j] /= size[g]
    for i in range(n):
        total += apart(rows, i, centre, genes[i], metric)
    return total


@kernel
def mutate(case: Case, genes: Ints, rng: np.random.Generator) -> None:
    """A random record moves to one of its neighbours, a random member of that group moves out."""
    n, near = len(genes), case.near
    i = int(rng.random() * n)
    o = near[i, int(rng.random() * near.shape[1])]
    if o < 0 or genes[o] == genes[i]:
        return
    count = -1
    for m in range(n):
        count += genes[m] == genes[o]
    skip = int(rng.random() * count)
    for m in range(n):
        if genes[m] == genes[o] and m != o:
            if skip == 0:
                genes[m], genes[i] = genes[i], genes[o]
                return
            skip -= 1


@kernel
def spin(wheel: Floats, rng: np.random.Generator) -> int:
    """A slot of the roulette wheel, given as running sums; any slot if it has no extent."""
    if not 0.0 < wheel[-1] < np.inf:
        return int(rng.random() * len(wheel))
    at = np.searchsorted(wheel, rng.random() * wheel[-1], side="right")
    return int(min(at, len(wheel) - 1))


@kernel
def evolve(
    values: Floats, metric: Metric, k: int, given: Ints, population: int,
    generations: int, mutation: float, crossover: float, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Genes of the best chromosome after some generations; starts from `given` and random ones.

    Parents by roulette, fitness the cost below that of the worst; a child takes a stretch of
    genes from a second parent with probability `crossover` and mutates with probability
    `mutation`; the best always lives on. O(n^2 d + generations population n d).
    """
    n = values.shape[1]
    case = make_case(values, metric, k)
    people, children = (
        np.full((population, n), LOOSE, np.int32),
        np.empty((population, n), np.int32),
    )
    costs, next_costs = np.empty(population), np.empty(population)
    people[0] = given
    for p in range(population):
        repair(case, k, people[p], rng)
        costs[p] = cost_of(case, people[p])
    best, idle = np.argmin(costs), 0
    for _ in range(generations):
        wheel = np.cumsum(costs.max() - costs)
        if wheel[-1] == 0.0 or idle == PATIENCE:
            break
        children[0], next_costs[0] = people[best], costs[best]
        for p in range(1, population):
            parent, child = spin(wheel, rng), children[p]
            child[:], next_costs[p] = people[parent], costs[parent]
            crossed, mutated = rng.random() < crossover, rng.random() < mutation
            if crossed:
                other = people[spin(wheel, rng)]
                one, two = int(rng.random() * n), int(rng.random() * n)
                for i in range(min(one, two), max(one, two)):
                    child[i] = other[i] + n // k
                repair(case, k, child, rng)
            if mutated:
                mutate(case, child, rng)
            if crossed or mutated:
                next_costs[p] = cost_of(case, child)
        people, children, costs, next_costs = children, people, next_costs, costs
        best = np.argmin(costs)
        idle = 0 if costs[best] < costs[0] else idle + 1
    chosen: Ints = people[best].copy()
    return chosen


def ga(
    values: Floats, metric: Metric, k: int, given: Ints, population: int, generations: int,
    mutation: float, crossover: float, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k, by `evolve`.

    `given` are labels that may have gaps of LOOSE; groups of k or more are part of the start.
    """
    n = values.shape[1]
    if n < 2 * k:
        return np.zeros(n, np.int32)
    spare, labels = values.copy(), np.empty(n, np.int32)
    order, _ = split(spare, metric, k, 1, 0)
    labels[order] = evolve(
        spare, metric, k, given[order], population, generations, mutation, crossover, rng
    )
    return labels
