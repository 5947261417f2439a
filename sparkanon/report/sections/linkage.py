"""Whether somebody who knows a person finds the record."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.attacks.needs import Linked
from sparkanon.catalogue import CATALOGUE
from sparkanon.measures import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report import risk_figures
from sparkanon.report.clearing import Part, rows_of
from sparkanon.report.counts import coded_count
from sparkanon.report.numbers import finite
from sparkanon.report.sections.base import Asked, Section


@spec
class Linkage(Section):
    """Every attack on the whole table, and by how far out a record lies."""

    key: ClassVar[str] = "linkage"
    title: ClassVar[str] = "Linkage risk"
    source: ClassVar[str] = "ROUND 3.3.2"
    part: ClassVar[str | None] = "outlyingness"
    intro: ClassVar[str] = (
        "Can somebody who knows a person's original values find that person's record in the "
        "release? A number is alarming only if it is well above a random guess."
    )
    explains: ClassVar[frozenset[str]] = frozenset(
        {"outlyingness", *(a.key for a in CATALOGUE.values() if a.family == "linkage")}
    )

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return tuple(need for need in asked if isinstance(need, Linked))

    def collect(self, given: Given, known: Known) -> Any:
        links = next(known[need] for need in known if isinstance(need, Linked))
        # Deciles are of whole rows, but in a permuted release the tuples of a block link more.
        return [] if links.tuples else list(links.by_decile)

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        return {"outlyingness": [_cleared(row, k) for row in rows_of(run, "outlyingness")]}

    def content(self, cleared: Part) -> list[Any]:
        drawn = (risk_figures.attacks, risk_figures.by_k, risk_figures.outlyingness)
        return [figure for draw in drawn if (figure := draw(cleared))]


def _cleared(row: Part, k: int) -> dict[str, Any]:
    """A decile as it may be shown: without its risk if it holds fewer than k records."""
    records = coded_count(row.get("records"), k)
    fields: dict[str, Any] = {"decile": finite(row.get("decile")), "records": records}
    for key in ("linkage", "baseline"):
        fields[key] = None if isinstance(records, str) else finite(row.get(key))
    return fields
