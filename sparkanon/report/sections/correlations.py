"""Which columns move together, before and after."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sparkanon.measures import Given
from sparkanon.measures.moments import needed, of_both, ordered
from sparkanon.measures.needs import PairTally, SideTally
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report.sections.base import Asked


@spec
class Correlations:
    """Both matrices, of ordered columns."""

    key: ClassVar[str] = "correlations"
    title: ClassVar[str] = "Correlations"
    source: ClassVar[str] = "ROUND 4"

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        summed = any(isinstance(need, PairTally | SideTally) for need in open_)
        return needed(given) if summed else ()

    def collect(self, given: Given, known: Known) -> Any:
        names = [given.statistics[at].name for at in ordered(given.statistics)]
        if len(names) < 2:
            return None
        original, released = (side.correlations() for side in of_both(given, known))
        return {
            "columns": names,
            "original": np.round(original, 4).tolist(),
            "released": np.round(released, 4).tolist(),
        }
