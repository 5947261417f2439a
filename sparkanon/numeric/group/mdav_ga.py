"""The hybrid of MDAV and a genetic algorithm (SURVEY 3.1), for any distance of `Points`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.group.ga import ga
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.group.mhm import middles
from sparkanon.numeric.members import members
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


def mdav_ga(
    values: Floats, metric: Metric, k: int, macro: int, population: int, generations: int,
    mutation: float, crossover: float, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Labels 0, 1, ... of the records of `values` (d, n), n >= k.

    MDAV on the records, MDAV on the centres of its groups, a genetic algorithm in each of the
    macro-groups of about `macro` records, at least two groups. O(MDAV + n d population
    generations).
    """
    labels = mdav(values, metric, k)
    starts, records = members(labels)
    centres = middles(np.ascontiguousarray(values.T), metric, starts, records)
    together = max(macro // k, 2)
    if len(centres) < together:
        macros = np.zeros(len(centres), np.int32)
    else:
        macros = mdav(np.ascontiguousarray(centres.T), metric, together)
    starts, records = members(macros[labels])
    groups, out = 0, np.empty(len(labels), np.int32)
    for low, high in pairwise(starts):
        within = records[low:high]
        inner = np.ascontiguousarray(values[:, within])
        _, given = np.unique(labels[within], return_inverse=True)
        found = ga(
            inner, metric, k, given.astype(np.int32), population, generations, mutation, crossover,
            rng,
        )  # fmt: skip
        out[within] = groups + found
        groups += int(found.max()) + 1
    return out
