"""Which columns move together, before and after."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sparkanon.measures import Given
from sparkanon.measures.moments import names, needed, of_both
from sparkanon.measures.needs import PairTally, SideTally
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report import figures
from sparkanon.report.clearing import Part, mapping, name
from sparkanon.report.numbers import finite
from sparkanon.report.sections.base import Asked, Section


@spec
class Correlations(Section):
    """Both matrices, of ordered columns."""

    key: ClassVar[str] = "correlations"
    title: ClassVar[str] = "Correlations"
    source: ClassVar[str] = "ROUND 4"
    part: ClassVar[str | None] = "correlations"
    explains: ClassVar[frozenset[str]] = frozenset(
        {"correlations", "correlation_error", "eigen_difference", "mi_loss"}
    )

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        summed = any(isinstance(need, PairTally | SideTally) for need in open_)
        return needed(given) if summed else ()

    def collect(self, given: Given, known: Known) -> Any:
        columns = names(given)
        if len(columns) < 2:
            return None
        original, released = (side.correlations() for side in of_both(given, known))
        return {
            "columns": columns,
            "original": np.round(original, 4).tolist(),
            "released": np.round(released, 4).tolist(),
        }

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        given = mapping(run.get("correlations"))
        return {"correlations": _cleared(given)} if given.get("columns") else {}

    def content(self, cleared: Part) -> list[Any]:
        return list(figures.correlations(cleared))


def _cleared(given: Part) -> dict[str, Any]:
    fields: dict[str, Any] = {"columns": [name(column) for column in given["columns"]]}
    for side in ("original", "released"):
        fields[side] = [[finite(cell) for cell in row] for row in given.get(side) or ()]
    return fields
