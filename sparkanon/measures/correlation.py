"""How strongly released columns move together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sparkanon.measures.base import About, Measure
from sparkanon.measures.moments import needed, of_both
from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec


@spec
class MeanAbsoluteCorrelation:
    """The one number that ROUND 4 (table 7) makes of a matrix of correlations."""

    about: ClassVar[About] = About(
        key="mean_absolute_correlation",
        title="Mean absolute correlation",
        family="loss",
        unit="number",
        better="neither",
        formula="mean of |r released| over the pairs of columns",
        source="Senavirathne, Torra 2019, section 4",
        meaning="How strongly the published columns move together on average, up or down.",
        conclude=(
            "Compare it with the same number of other releases of this table: averaging over "
            "groups strengthens relations, permuting weakens them."
        ),
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = True

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return needed(given)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        _, released = of_both(given, known)
        r = released.correlations()
        above = np.abs(r[np.triu_indices(len(r), k=1)])
        # one column moves with no other: there is nothing to average
        return [Measure(self.key, float(above.mean()))] if above.size else []
