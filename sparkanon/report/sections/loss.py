"""What each column lost."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.catalogue import CATALOGUE
from sparkanon.registry import spec
from sparkanon.report import figures
from sparkanon.report.clearing import Part
from sparkanon.report.sections.base import Section
from sparkanon.report.sections.correlations import Correlations


@spec
class Loss(Section):
    """A bar a column for each measure that was taken by column."""

    key: ClassVar[str] = "loss"
    title: ClassVar[str] = "Loss by column"
    explains: ClassVar[frozenset[str]] = (
        frozenset(a.key for a in CATALOGUE.values() if a.family == "loss") - Correlations.explains
    )

    def content(self, cleared: Part) -> list[Any]:
        return list(figures.per_column(cleared, "loss"))
