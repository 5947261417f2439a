"""Who is found again: records in the middle of the table, or those far out."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.attacks.needs import Linked
from sparkanon.measures import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report.sections.base import Asked


@spec
class Outlyingness:
    """Linkage by how far out a record lies, in tenths of the records."""

    key: ClassVar[str] = "outlyingness"
    title: ClassVar[str] = "Linkage by how far out a record lies"
    source: ClassVar[str] = "ROUND 3.3.2"

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return tuple(need for need in asked if isinstance(need, Linked))

    def collect(self, given: Given, known: Known) -> Any:
        (links,) = (known[need] for need in known if isinstance(need, Linked))
        # it is about whole rows, and the tuples of a block link more
        return [] if links.tuples else list(links.by_decile)
