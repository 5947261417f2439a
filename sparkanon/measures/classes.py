"""How large the classes of a release are."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.measures.anonymity import ClassSizes, Sizes
from sparkanon.measures.base import About, FromOne, Values
from sparkanon.measures.needs import Given
from sparkanon.registry import spec


class OfSizes(FromOne[ClassSizes]):
    """A measure of the sizes of classes."""

    def asks(self, given: Given) -> Sizes:
        return Sizes()


@spec
class MinClassSize(OfSizes):
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

    def values(self, answer: ClassSizes, given: Given) -> Values:
        return {None: float(answer.smallest)}


@spec
class BelowK(OfSizes):
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

    def values(self, answer: ClassSizes, given: Given) -> Values:
        if given.k is None:
            return {}
        return {None: answer.below_k / answer.records if answer.records else 0.0}
