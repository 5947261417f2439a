"""Whether somebody who knows a person finds the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sparkanon.attacks.needs import Linked
from sparkanon.catalogue import CATALOGUE
from sparkanon.measures import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report import risk_figures
from sparkanon.report.clearing import Part, about_few, rows_of
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
        return {"outlyingness": _cleared(rows_of(run, "outlyingness"), k)}

    def content(self, cleared: Part) -> list[Any]:
        drawn = (risk_figures.attacks, risk_figures.by_k, risk_figures.outlyingness)
        return [figure for draw in drawn if (figure := draw(cleared))]


def _cleared(given: Sequence[Part], k: int) -> list[dict[str, Any]]:
    """Deciles as they may be shown: without risks if one of these is about fewer than k records.

    Alone it could be computed from the others and the whole.
    """
    deciles: list[dict[str, Any]] = [
        {
            "decile": finite(row.get("decile")),
            "records": coded_count(row.get("records"), k),
            "linkage": finite(row.get("linkage")),
            "baseline": finite(row.get("baseline")),
        }
        for row in given
    ]
    if any(_tells_of_few(row, k) for row in deciles):
        deciles = [row | {"linkage": None, "baseline": None} for row in deciles]
    return deciles


def _tells_of_few(row: Part, k: int) -> bool:
    records, share = row["records"], row["linkage"]
    if not isinstance(records, int):
        return True
    return share is not None and about_few(share, k, records) is not None
