"""Distance-based record linkage: the nearest record is the guess."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from sparkanon.attacks.base import Attack
from sparkanon.attacks.needs import Linked, Links
from sparkanon.measures import About, Given, Measure
from sparkanon.needs import Known, Need
from sparkanon.registry import MOST_ROWS, spec

TO_ORIGINAL = About(
    key="linkage_masked_to_original",
    title="Linkage, release to original",
    family="linkage",
    unit="share",
    better="lower",
    formula="mean over released records of [own original is nearest] / number of nearest",
    source="Senavirathne, Torra 2019, section 3.3 (DDR)",
    meaning=(
        "The share of released records whose nearest original record is the one they were made "
        "from."
    ),
    conclude=(
        "This is what an attacker who holds the whole original would get right. Compare it "
        "with the random guess: what matters is how much better than guessing it is. A "
        "suppressed or generalized cell links to everything that it covers."
    ),
    outside="share of records",
)
TO_RELEASED = About(
    key="linkage_original_to_masked",
    title="Linkage, original to release",
    family="linkage",
    unit="share",
    better="lower",
    formula=(
        "mean over original records of [own record is nearest] / number of nearest; a suppressed "
        "record counts as 0"
    ),
    source="Senavirathne, Torra 2019, section 3.3 (DDR, the other way round)",
    meaning="The share of people whose nearest released record is their own.",
    conclude=(
        "This is the attack on one known person: 'which of these records is she?' Records that "
        "are equal count as a draw, so k equal records give at most one in k."
    ),
    outside="share of records",
)
RANDOM = About(
    key="linkage_baseline",
    title="Random guess",
    family="linkage",
    unit="share",
    better="neither",
    formula="1 / n, n the number of original records",
    source="design, promise 7",
    meaning="What an attacker who guesses blindly gets right.",
    conclude=(
        "The yardstick: a linkage risk close to it means that the release helps nobody to find "
        "a person."
    ),
)


@spec
class NearestRecord(Attack):
    """An attacker who knows all original quasi-identifiers guesses: it is the nearest record.

    Both directions: from the release to the original (DDR), and from a known person to the
    release. Records at the same distance share the credit. A record that is not in the release
    cannot be linked correctly, so there is no control.
    """

    key: ClassVar[str] = "nearest_record"
    title: ClassVar[str] = "distance-based record linkage, exact, in both directions"
    source: ClassVar[str] = "ROUND 3.3.2 (DDR)"
    knows: ClassVar[str] = "all quasi-identifiers of everybody in the original"
    after: ClassVar[str] = "which record is whose"
    gives: ClassVar[tuple[About, ...]] = (TO_ORIGINAL, TO_RELEASED)
    baseline: ClassVar[About] = RANDOM
    ordered: ClassVar[bool] = False

    targets: Annotated[int, Field(ge=1, le=MOST_ROWS)] | None = Field(
        None, description="How many records are looked for, drawn by hash; all if not said."
    )

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Linked(self.targets),)

    def risks(self, given: Given, known: Known) -> list[Measure]:
        links = known[Linked(self.targets)]
        if links.to_original is None or links.to_released is None:
            return []
        found = []
        for about, whole, tuples in (
            (TO_ORIGINAL, links.to_original, _of(links, "to_original")),
            (TO_RELEASED, links.to_released, _of(links, "to_released")),
        ):
            # the tuples of one block alone may link more records than whole rows do
            share = whole.at_least(max(tuples.values())) if tuples else whole
            found.append(Measure(about.key, share.value, None, share.low, share.high))
            found += [Measure(about.key, linked, name) for name, linked in tuples.items()]
        return found

    def without_release(self, given: Given, known: Known) -> float:
        return 1.0 / given.rows


def _of(links: Links, way: str) -> dict[str, float]:
    return {name: getattr(shares, way) for name, shares in links.tuples.items()}
