"""Gower's dissimilarity for mixed types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparkanon.needs import Known
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.registry import spec
from sparkanon.spaces.base import Weighted
from sparkanon.spaces.needs import Moments


@spec
class Gower(Weighted):
    """Mean over the columns of |x - y| / range, or of [x != y] for nominal ones.

    Under the null policy `own_category` a null is a value of its own: 0 from another null and 1
    from everything else. Under the other policies no null is left, so none has to be left out.
    """

    key: ClassVar[str] = "gower"
    title: ClassVar[str] = "Gower dissimilarity (all types, mixed)"
    source: ClassVar[str] = "PKA section 4, formula (1)"
    scales: ClassVar[frozenset[Scale]] = frozenset(Scale)

    def fit(self, known: Known) -> FittedGower:
        statistics = known[Moments()]
        weights = {s.name: self.weight(s.name) for s in statistics}
        total = sum(weights.values())
        return FittedGower(
            caps={name: weight / total for name, weight in weights.items()},
            lows={s.name: s.low for s in statistics},
            spreads={s.name: s.spread for s in statistics},
        )


@dataclass(frozen=True)
class FittedGower:
    """The share of each column in the mean, and the range that scales it to 0..1."""

    caps: Mapping[str, float]
    lows: Mapping[str, float]
    spreads: Mapping[str, float]

    @property
    def units(self) -> Mapping[str, float]:
        return {
            name: (self.spreads[name] or 1.0) / cap if cap > 0 else 0.0
            for name, cap in self.caps.items()
        }

    @property
    def summary(self) -> Mapping[str, float]:
        return {}

    def ruler(self, name: str, scale: Scale) -> Ruler:
        cap, spread = self.caps[name], self.spreads[name]
        if scale is Scale.NOMINAL:
            return Ruler(cap, cap, cap, None)
        return Ruler(cap / spread if spread > 0 else 0.0, cap, cap, None)

    def points(self, records: Records) -> Points:
        rows = []
        for column in records:
            cap = self.caps[column.name]
            if column.scale is Scale.NOMINAL:
                # code 0 is the null's: two different codes are at least one cap apart
                rows.append(np.where(column.null, 0.0, column.values + 1.0) * cap)
                continue
            spread = self.spreads[column.name]
            scaled = (column.values - self.lows[column.name]) / spread if spread > 0 else 0.0
            rows.append(np.where(column.null, 2.0, scaled) * cap)
        caps = np.array([self.caps[column.name] for column in records])
        codes = np.array([column.scale is Scale.NOMINAL for column in records])
        return Points(np.ascontiguousarray(np.stack(rows)), Metric.manhattan(caps, codes))
