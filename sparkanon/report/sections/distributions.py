"""Every column before and after."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.measures import Given, histograms
from sparkanon.measures.histograms import Shapes
from sparkanon.measures.needs import PairTally
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report import figures
from sparkanon.report.clearing import Part, name, rows_of
from sparkanon.report.counts import shares_of_bins
from sparkanon.report.numbers import finite
from sparkanon.report.sections.base import Asked, Section


@spec
class Distributions(Section):
    """Histograms of every ordered column, counted in the same pass as other sums."""

    key: ClassVar[str] = "distributions"
    title: ClassVar[str] = "Before and after"
    part: ClassVar[str | None] = "distributions"
    explains: ClassVar[frozenset[str]] = frozenset({"distributions"})

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return (Shapes(),) if any(isinstance(need, PairTally) for need in open_) else ()

    def collect(self, given: Given, known: Known) -> Any:
        return histograms.finish(known[Shapes()], given.statistics, given.few)

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        return {"distributions": [_cleared(d, k, rows) for d in rows_of(run, "distributions")]}

    def content(self, cleared: Part) -> list[Any]:
        return list(figures.distributions(cleared))


def _cleared(given: Part, k: int, rows: float | None) -> dict[str, Any]:
    return {
        "column": name(given.get("column", "")),
        "unit": name(given.get("unit", "")),
        "edges": [finite(edge) for edge in given.get("edges") or ()],
        "original": shares_of_bins(given.get("original") or (), k, rows),
        "released": shares_of_bins(given.get("released") or (), k, rows),
    }
