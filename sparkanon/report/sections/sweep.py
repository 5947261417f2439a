"""Which method and k to choose."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.registry import spec
from sparkanon.report import risk_figures
from sparkanon.report.clearing import Part, mapping, name, rows_of, shown_value
from sparkanon.report.numbers import finite
from sparkanon.report.sections.base import Section


@spec
class Sweep(Section):
    """The map of risk and loss, a point a cell."""

    key: ClassVar[str] = "sweep"
    title: ClassVar[str] = "Choosing a method"
    part: ClassVar[str | None] = "sweep"
    explains: ClassVar[frozenset[str]] = frozenset({"sweep"})

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        given = mapping(run.get("sweep"))
        return {"sweep": _cleared(given, k)} if given.get("cells") else {}

    def content(self, cleared: Part) -> list[Any]:
        figure = risk_figures.risk_map(cleared)
        return [figure] if figure else []


def _cleared(given: Part, k: int) -> dict[str, Any]:
    cells = []
    for cell in rows_of(given, "cells"):
        measures = mapping(cell.get("measures"))
        values = {name(m): shown_value(name(m), v, k, None) for m, v in measures.items()}
        fields: dict[str, Any] = {
            p: name(cell[p])
            for p in ("label", "grouping", "release", "space", "status")
            if cell.get(p) is not None
        }
        fields |= {"k": finite(cell.get("k")), "pareto": cell.get("pareto") is True}
        fields["measures"] = {m: value for m, (value, _) in values.items()}
        fields["texts"] = {m: text for m, (_, text) in values.items()}
        cells.append(fields)
    return {
        "x": name(given.get("x", "il")),
        "y": name(given.get("y", "linkage_masked_to_original")),
        "cells": cells,
    }
