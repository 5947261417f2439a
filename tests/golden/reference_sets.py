"""The three reference sets of the survey, z-scored, and what a grouping loses on them."""

from __future__ import annotations

import csv
import functools

import numpy as np
from reference_data import data_file

from sparkanon.groupings import Grouping
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats

EIA = [0, *range(5, 15)]  # UTILITYID and the ten revenue and sales columns


@functools.cache
def z_scored(name: str) -> Floats:
    with data_file(f"{name}.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    columns = EIA if name == "eia" else range(len(rows[0]))
    values = np.array([[float(row[column]) for row in rows] for column in columns])
    spread = values.std(axis=1, keepdims=True)
    return np.asarray((values - values.mean(axis=1, keepdims=True)) / spread)


def information_loss(values: Floats, grouping: Grouping, k: int) -> float:
    labels = grouping.group(Points.euclidean(values), k, np.random.default_rng(0))
    sizes = np.bincount(labels)
    assert k <= sizes.min()
    assert sizes.max() < 2 * k
    means = np.array([np.bincount(labels, row) / sizes for row in values])
    within = ((values - means[:, labels]) ** 2).sum()
    return float(100 * within / ((values - values.mean(axis=1, keepdims=True)) ** 2).sum())
