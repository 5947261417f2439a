"""The contract of a section of the report: what it has to know, and what it keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from sparkanon.measures import Given
from sparkanon.needs import Known, Need

Asked = Sequence[Need[Any]]


@runtime_checkable
class Section(Protocol):
    """A part of report.json, and of the page that is drawn from it."""

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        """What it has to know; nothing if that would cost more than what is done anyway.

        `asked` are all needs of the measures, `open_` those that are still to be answered.
        """
        ...

    def collect(self, given: Given, known: Known) -> Any:
        """The part for report.json: numbers only, no cell."""
        ...
