"""How strongly released columns move together."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.measures.base import About, Values
from sparkanon.measures.distortion import mean_off_diagonal
from sparkanon.measures.moments import FromMoments, Moments
from sparkanon.measures.needs import Given
from sparkanon.registry import spec


@spec
class MeanAbsoluteCorrelation(FromMoments):
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

    def values(self, original: Moments, released: Moments, given: Given) -> Values:
        r = released.correlations()
        # one column moves with no other: there is nothing to average
        return {None: mean_off_diagonal(r)} if len(r) > 1 else {}
