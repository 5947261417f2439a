"""How many records hide in a crowd of which size."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.measures import Given
from sparkanon.measures.anonymity import Sizes
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report.sections.base import Asked


@spec
class ClassSizes:
    """Classes, or the groups that a release draws from."""

    key: ClassVar[str] = "class_sizes"
    title: ClassVar[str] = "Class sizes"
    source: ClassVar[str] = "Samarati, Sweeney 1998"

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return (Sizes(),) if Sizes() in asked else ()

    def collect(self, given: Given, known: Known) -> Any:
        return known[Sizes()].to_dict()
