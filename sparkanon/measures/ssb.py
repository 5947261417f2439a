"""What a release keeps of the spread: the sum of squares between its groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sparkanon.measures.base import About, Measure
from sparkanon.measures.moments import needed, of_both, ordered
from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec


@spec
class Ssb:
    """Sum of squared distances of released z-scores from their own mean.

    Of a release whose values are the means of groups this is SURVEY's sum of squares between
    groups, and SSB + SSE = SST.
    """

    about: ClassVar[About] = About(
        key="ssb",
        title="Sum of squares between groups",
        family="loss",
        unit="number",
        better="higher",
        formula="sum of (z - mean of z)^2 on z-scores of the original",
        source="Chettri, Paul, Dutta 2012, section 2.2, formula 2",
        meaning="How much the published values still vary: what is left of the total.",
        conclude="An intermediate result; read information loss instead.",
        outside="private",
        drawn=False,
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = True

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return needed(given)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        _, released = of_both(given, known)
        sums = np.diagonal(released.count) * np.diagonal(released.covariances())
        names = [given.statistics[at].name for at in ordered(given.statistics)]
        columns = zip(sums.tolist(), names, strict=True)
        return [
            Measure(self.key, float(sums.sum())),
            *(Measure(self.key, each, name) for each, name in columns),
        ]
