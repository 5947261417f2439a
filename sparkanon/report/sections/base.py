"""The contract of a section of the report: what it has to know, shows, and keeps back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sparkanon.measures import Given
from sparkanon.needs import Known, Need
from sparkanon.report.clearing import Part

Asked = Sequence[Need[Any]]


class Section:
    """A section of the page, and the part of report.json that it is drawn from.

    `part` is its key in report.json, if a run collects anything for it. A template of its own is
    called by its key; without one its figures are drawn. What is not said by a
    section is as here: nothing is needed, collected or shown.
    """

    key: ClassVar[str]  # its place on the page
    title: ClassVar[str]
    source: ClassVar[str] = "sparkanon"
    part: ClassVar[str | None] = None
    intro: ClassVar[str] = ""
    explains: ClassVar[frozenset[str]] = frozenset()  # measures whose absence it has to explain

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        """What it has to know; nothing if that would cost more than what is done anyway.

        `asked` are all needs of the measures, `open_` those that are still to be answered.
        """
        return ()

    def collect(self, given: Given, known: Known) -> Any:
        """The part for report.json: numbers only, no cell."""
        return None

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        """The fields that may be shown: known keys only, and no count of fewer than k."""
        return {}

    def content(self, cleared: Part) -> list[Any]:
        """Figures, or whatever its own template draws."""
        return []
