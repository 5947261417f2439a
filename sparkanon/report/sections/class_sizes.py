"""How many records hide in a crowd of which size."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.measures import Given
from sparkanon.measures.anonymity import Sizes
from sparkanon.needs import Known, Need
from sparkanon.registry import spec
from sparkanon.report import figures
from sparkanon.report.clearing import Part
from sparkanon.report.counts import class_sizes
from sparkanon.report.sections.base import Asked, Section


@spec
class ClassSizes(Section):
    """Classes, or the groups that a release draws from."""

    key: ClassVar[str] = "class-sizes"
    title: ClassVar[str] = "Class sizes"
    part: ClassVar[str | None] = "class_sizes"
    explains: ClassVar[frozenset[str]] = frozenset({"class_sizes", "min_class_size", "below_k"})

    def needs(self, given: Given, asked: Asked, open_: Asked) -> tuple[Need[Any], ...]:
        return (Sizes(),) if Sizes() in asked else ()

    def collect(self, given: Given, known: Known) -> Any:
        return known[Sizes()].to_dict()

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        sizes = run.get("class_sizes")
        return {"class_sizes": class_sizes(sizes, k)} if sizes else {}

    def content(self, cleared: Part) -> list[Any]:
        figure = figures.class_sizes(cleared)
        return [figure] if figure else []
