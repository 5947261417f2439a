"""z-scored Euclidean distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparkanon.needs import Known
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.registry import spec
from sparkanon.spaces.base import Weighted
from sparkanon.spaces.needs import Moments

# Two values drawn at random are E(z1 - z2)^2 = 2 apart: a null is as far from any value.
NULL_STEP = float(np.sqrt(2.0))


@spec
class Euclidean(Weighted):
    """Every column is centred and divided by its standard deviation, so that all count alike.

    A column with nulls gets a second coordinate that is sqrt(2) for a null and 0 otherwise; the
    null itself stands at the mean. Constant columns do not count.
    """

    key: ClassVar[str] = "euclidean"
    title: ClassVar[str] = "z-scored Euclidean distance (numeric, ordinal, date, boolean)"
    source: ClassVar[str] = "SURVEY 2.2 and 4"
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC, Scale.ORDINAL})

    def fit(self, known: Known) -> FittedEuclidean:
        statistics = known[Moments()]
        return FittedEuclidean(
            centres={s.name: s.steady_mean() for s in statistics},
            factors={
                s.name: float(np.sqrt(self.weight(s.name))) / s.steady_sd()
                if s.steady_sd() > 0
                else 0.0
                for s in statistics
            },
            null_steps={
                s.name: float(np.sqrt(self.weight(s.name))) * NULL_STEP
                for s in statistics
                if s.nulls
            },
        )


@dataclass(frozen=True)
class FittedEuclidean:
    """Centres, factors (weight over sd) and the step of a null, by column."""

    centres: Mapping[str, float]
    factors: Mapping[str, float]
    null_steps: Mapping[str, float]

    @property
    def units(self) -> Mapping[str, float]:
        return {name: 1.0 / f if f > 0 else 0.0 for name, f in self.factors.items()}

    @property
    def summary(self) -> Mapping[str, float]:
        return {}

    def points(self, records: Records) -> Points:
        return self.with_marks(records, [self.scores(column) for column in records])

    def ruler(self, name: str, scale: Scale) -> Ruler:
        step = self.null_steps.get(name, 0.0)
        return Ruler(self.factors[name], np.inf, step, self.centres[name])

    def scores(self, column: Column) -> Floats:
        """z-scores; a null stands at the mean."""
        centred = (column.values - self.centres[column.name]) * self.factors[column.name]
        return np.where(column.null, 0.0, centred)

    def with_marks(self, records: Records, scores: Sequence[Floats]) -> Points:
        """A coordinate for each column, and a second one that marks nulls if it has some."""
        rows: list[Floats] = []
        for column, coordinate in zip(records, scores, strict=True):
            rows.append(coordinate)
            if column.name in self.null_steps:
                rows.append(np.where(column.null, self.null_steps[column.name], 0.0))
        return Points.euclidean(np.stack(rows))
