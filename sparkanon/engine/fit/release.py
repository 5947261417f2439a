"""Fit the release of a policy: answer what it has to know about the table."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from sparkanon.engine.fit.quantiles import numbers_of, quantiles
from sparkanon.engine.table.columns import Quasi
from sparkanon.needs import Known
from sparkanon.releases import FittedRelease, Release
from sparkanon.releases.needs import NumberOf, Quantiles


def fit_release(rows: DataFrame, quasi: Sequence[Quasi], release: Release) -> FittedRelease:
    """`rows` take part and are as they go to be masked."""
    needs = release.needs()
    stated = [need for need in needs if isinstance(need, NumberOf)]
    shares = [need for need in needs if isinstance(need, Quantiles)]
    known = Known().with_answers(numbers_of(quasi, stated))
    if shares:
        known = known.with_answers(quantiles(rows, quasi, shares))
    return release.fit(known)
