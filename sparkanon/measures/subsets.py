"""How well subsets of columns distinguish records."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from sparkanon.measures.base import About, Measure
from sparkanon.measures.needs import Given
from sparkanon.measures.uniqueness import Subsets
from sparkanon.needs import Known, Need
from sparkanon.registry import spec

Largest = Annotated[int, Field(ge=0, le=4, description="Largest subset of the original.")]


@spec
class Uniqueness:
    """Share of unique records: in the release by all columns, in the original by subsets."""

    about: ClassVar[About] = About(
        key="uniqueness",
        title="Uniqueness",
        family="anonymity",
        unit="share",
        better="lower",
        formula="records in classes of size 1 / n",
        source="Motwani, Xu 2007",
        meaning="The share of records whose values in these columns nobody else has.",
        conclude=(
            "High uniqueness in the original says that these columns identify people and must "
            "be treated as quasi-identifiers; in a release it should be 0."
        ),
        outside="share of records",
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    subsets: Largest = 1

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Subsets(self.subsets),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        found = known[Subsets(self.subsets)]
        return [Measure(self.key, classes.uniqueness, name) for name, classes in found.items()]


@spec
class Separation:
    """Share of pairs of records that differ, by the same columns as for uniqueness."""

    about: ClassVar[About] = About(
        key="separation",
        title="Separation",
        family="anonymity",
        unit="share",
        better="lower",
        formula="1 - sum of |class| (|class| - 1) / (n (n - 1))",
        source="Motwani, Xu 2007",
        meaning="The share of pairs of records that differ in these columns.",
        conclude=(
            "Near 100 % the columns work almost like a name. It falls slowly, because most "
            "pairs differ even in a well protected table: read it beside uniqueness."
        ),
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    subsets: Largest = 1

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Subsets(self.subsets),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        found = known[Subsets(self.subsets)]
        return [Measure(self.key, classes.separation, name) for name, classes in found.items()]
