"""Hybrid microdata: synthetic records in place of the group's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sparkanon.errors import Problem
from sparkanon.numeric.members import members
from sparkanon.numeric.records import Floats, Labels, Records, Scale
from sparkanon.numeric.synthetic import synthetic
from sparkanon.registry import spec
from sparkanon.releases.base import NewValues, Published, mostly_null
from sparkanon.releases.permute import permutation_within


@spec
class Hybrid:
    """Random records with the mean and the covariance of each group, as many as it has.

    The survey leaves the generator open; here the deviations of a group are turned by a random
    rotation that leaves the mean alone, which keeps mean and covariance to rounding. A group of
    m records with m <= d columns spans fewer than d dimensions, and turning it gives little that
    is new: there the deviations are also shrunk, its covariance to (m - 1) / d of what it was.

    The pattern of nulls of a record goes to another record of its group, whole; mean and
    variance of a column are over its values, covariances with a column that has nulls are near.
    Where at least half of a group is null in a column all of it is, as in `centroid`, and where
    it has nulls and only two values both become their mean: otherwise they would be published.
    """

    key: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "synthetic records with the group's mean and covariance (numeric)"
    source: ClassVar[str] = "SURVEY 3.2"
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC})
    texts: ClassVar[bool] = False

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        return []

    def draws(self, quasi: Sequence[str]) -> tuple[tuple[str, ...], ...] | None:
        return ()

    def allowed(self, name: str) -> tuple[str, ...] | None:
        return None

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
