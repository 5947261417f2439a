"""How large the classes of a release are."""

from __future__ import annotations

from typing import Any, ClassVar

from sparkanon.measures.anonymity import Sizes
from sparkanon.measures.base import About, Measure
from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec


@spec
class MinClassSize:
    """Size of the smallest class, or of the smallest group drawn from."""

    about: ClassVar[About] = About(
        key="min_class_size",
        title="Smallest class",
        family="anonymity",
        unit="count",
        better="higher",
        formula="min over classes of |class|",
        source="Samarati, Sweeney 1998",
        meaning=(
            "The smallest number of records that share all published quasi-identifiers, or "
            "that a permuted record's values were drawn from."
        ),
        conclude=(
            "At k or above, nobody can be singled out by these columns with better odds than "
            "one in k. Below k, the release breaks its promise."
        ),
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Sizes(),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return [Measure(self.key, float(known[Sizes()].smallest))]


@spec
class BelowK:
    """Share of records in classes smaller than k."""

    about: ClassVar[About] = About(
        key="below_k",
        title="Records in classes below k",
        family="anonymity",
        unit="share",
        better="lower",
        formula="sum of |class| over classes with |class| < k, divided by records",
        source="Samarati, Sweeney 1998",
        meaning=(
            "The share of records whose published quasi-identifiers are shared by fewer than k."
        ),
        conclude=("It must be 0. Anything else names people who do not hide well enough."),
        outside="private",
        by_k=True,
    )
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Sizes(),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        if given.k is None:
            return []
        sizes = known[Sizes()]
        share = sizes.below_k / sizes.records if sizes.records else 0.0
        return [Measure(self.key, share)]
