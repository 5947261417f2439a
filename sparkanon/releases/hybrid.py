"""Hybrid microdata: synthetic records in place of the group's own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.errors import Problem
from sparkanon.numeric.members import members
from sparkanon.numeric.records import Floats, Labels, Records, Scale
from sparkanon.numeric.release.synthetic import synthetic
from sparkanon.promises import MadeFrom, Promise
from sparkanon.registry import spec
from sparkanon.releases.base import (
    Asked,
    ByGroup,
    Cells,
    NewValues,
    Published,
    mostly_null,
)
from sparkanon.releases.permute import permutation_within

LEAST_K = 3


@spec
class Hybrid(ByGroup):
    """Random records with the mean and the covariance of each group, as many as it has.

    The survey leaves the generator open; here the deviations of a group are turned by a random
    rotation that leaves the mean alone, which keeps mean and covariance to rounding. A group of
    m records with m <= d columns spans fewer than d dimensions, and turning it gives little that
    is new: there the deviations are also shrunk, its covariance to (m - 1) / d of what it was.

    The pattern of nulls of a record goes to another record of its group, whole; mean and
    variance of a column are over its values, covariances with a column that has nulls are near.
    Where at least half of a group is null in a column all of it is, as in `centroid`, and where
    it has nulls and only two values both become their mean: otherwise they would be published.

    The deviations of two records span one dimension, which can only be mirrored: both records
    would come out again, to the digit or shrunk by a factor that everybody knows. So k is at
    least 3, whatever the number of columns.
    """

    key: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "synthetic records with the group's mean and covariance (numeric)"
    source: ClassVar[str] = "SURVEY 3.2"
    done: ClassVar[str] = (
        "put invented records in their place that keep each group's means and covariances"
    )
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC})
    cells: ClassVar[Cells] = Cells.COMPUTED

    def problems(self, asked: Asked) -> list[Problem]:
        if asked.k is None or asked.k >= LEAST_K:
            return []
        columns = f"{len(asked.quasi)} column{'s' if len(asked.quasi) > 1 else ''}"
        text = (
            f"with k = {asked.k} and {columns} the original records would come out again; "
            f"hybrid needs a k of at least {LEAST_K} for any number of columns"
        )
        return [Problem("name", text)]

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        return MadeFrom(columns=quasi, k=k)

    def publish(
        self,
        records: Records,
        labels: Labels,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> tuple[Published, ...]:
        values = np.stack([column.values for column in records])
        null = np.stack([column.null for column in records])
        hidden = null
        if null.any():
            hidden = np.ascontiguousarray(null[:, permutation_within(labels, rng)])
            groups = int(labels.max()) + 1
            hidden |= np.stack([mostly_null(column, labels, groups)[labels] for column in null])
        starts, order = members(labels)
        made = synthetic(values, null, hidden, order, starts, rng.standard_normal(values.shape))
        return tuple(NewValues(*pair) for pair in zip(made, hidden, strict=True))
