"""Whether a class gives a secret away."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.catalogue import CATALOGUE
from sparkanon.registry import spec
from sparkanon.report.clearing import Part
from sparkanon.report.glossary import word_for
from sparkanon.report.sections.base import Section


@spec
class Attributes(Section):
    """The measures of sensitive columns, for each column."""

    key: ClassVar[str] = "attributes"
    title: ClassVar[str] = "Attribute risk"
    explains: ClassVar[frozenset[str]] = frozenset(
        a.key for a in CATALOGUE.values() if a.family == "attribute"
    )

    def content(self, cleared: Part) -> list[Any]:
        found: dict[str, list[Part]] = {}
        for m in cleared["measures"]:
            if word_for(m["measure"]).family == "attribute":
                found.setdefault(m["measure"], []).append(m)
        return [(word_for(measure), values) for measure, values in found.items()]
