"""What each number means, for a reader who is no statistician: taken from the measures' specs."""

from __future__ import annotations

from collections.abc import Mapping

from sparkanon.catalogue import CATALOGUE, about
from sparkanon.measures import FAMILIES, About
from sparkanon.measures.base import Family, Unit

# Not measured but counted: what an audit finds among the released columns.
IDENTIFIERS = About(
    key="identifiers",
    title="Identifiers in the release",
    family="anonymity",
    unit="number",
    better="lower",
    formula="number of such columns",
    source="sparkanon",
    meaning=(
        "The number of released columns that the policy calls identifiers, or that equal an "
        "original identifier under another name. The key of an audit does not count."
    ),
    conclude=(
        "It must be 0: a class of k people does not hide anybody whose name stands beside it."
    ),
)
GLOSSARY: Mapping[str, About] = {**CATALOGUE, IDENTIFIERS.key: IDENTIFIERS}

__all__ = ["FAMILIES", "GLOSSARY", "IDENTIFIERS", "About", "Family", "Unit", "word_for"]


def word_for(measure: str) -> About:
    """The entry of the glossary; a measure without one is still shown, under its own name."""
    known = about(measure) or GLOSSARY.get(measure)
    if known is not None:
        return known
    return About(
        key=measure,
        title=measure.replace("_", " ").strip().capitalize() or "Unnamed measure",
        family="summary",
        unit="number",
        better="neither",
        formula="",
        source="",
        meaning="This report has no explanation of this measure yet.",
        conclude="Ask who computed it.",
    )
