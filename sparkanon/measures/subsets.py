"""How well subsets of columns distinguish records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from sparkanon.measures.base import About, FromOne, Values
from sparkanon.measures.needs import Given
from sparkanon.measures.uniqueness import SubsetClasses, Subsets
from sparkanon.registry import spec

Largest = Annotated[int, Field(ge=0, le=4, description="Largest subset of the original.")]


@spec
class OfSubsets(FromOne[Mapping[str | None, SubsetClasses]]):
    """One of the numbers of the classes, which has the measure's name."""

    subsets: Largest = 1

    def asks(self, given: Given) -> Subsets:
        return Subsets(self.subsets)

    def values(self, answer: Mapping[str | None, SubsetClasses], given: Given) -> Values:
        return {name: getattr(classes, self.key) for name, classes in answer.items()}


@spec
class Uniqueness(OfSubsets):
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


@spec
class Separation(OfSubsets):
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
