"""What a release keeps of the spread: the sum of squares between its groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparkanon.measures.base import About, Values, by_column
from sparkanon.measures.moments import FromMoments, Moments, names
from sparkanon.measures.needs import Given
from sparkanon.registry import spec


@spec
class Ssb(FromMoments):
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

    def values(self, original: Moments, released: Moments, given: Given) -> Values:
        sums = np.diagonal(released.covariances()) * np.diagonal(released.count)
        return by_column(float(sums.sum()), sums, names(given))
