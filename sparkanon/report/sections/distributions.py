"""Every column before and after."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.measures import Given, histograms
from sparkanon.measures.histograms import Shapes
from sparkanon.measures.needs import PairTally
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report.sections.base import Asked


@spec
class Distributions:
    """Counted with whatever else is summed up over the pair."""

    key: ClassVar[str] = "distributions"
    title: ClassVar[str] = "Before and after"
    source: ClassVar[str] = "sparkanon"

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return (Shapes(),) if any(isinstance(need, PairTally) for need in open_) else ()

    def collect(self, given: Given, known: Known) -> Any:
        return histograms.finish(known[Shapes()], given.statistics, given.k)
