"""What classes say about sensitive columns: l-diversity, t-closeness, homogeneous classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from sparkanon.measures.base import About, FromOne, Measure, Values
from sparkanon.measures.diversity import Diversities, Diversity
from sparkanon.measures.needs import Given
from sparkanon.needs import Known
from sparkanon.registry import spec

USUAL_C = 2.0  # of recursive (c, l)-diversity; all measures share one count if it is theirs, too


def worst(about: About, columns: Sequence[Measure]) -> list[Measure]:
    """The worst value of a measure that was taken of several columns, as the table's value."""
    values = [one.value for one in columns if one.value is not None]
    choose = max if about.better == "lower" else min
    return [Measure(about.key, choose(values))] if values else []


class OfClasses(FromOne[Mapping[str, Diversity]]):
    """One of the numbers of a tally, which has the measure's name; the table's is the worst."""

    def asks(self, given: Given) -> Diversities:
        return Diversities(USUAL_C)

    def values(self, answer: Mapping[str, Diversity], given: Given) -> Values:
        return {name: float(getattr(tally, self.key)) for name, tally in answer.items()}

    def finish(self, given: Given, known: Known) -> list[Measure]:
        columns = super().finish(given, known)
        return [*worst(self.about, columns), *columns]


@spec
class LDistinct(OfClasses):
    """Fewest distinct sensitive values in a class."""

    about: ClassVar[About] = About(
        key="l_distinct",
        title="Distinct l-diversity",
        family="attribute",
        unit="number",
        better="higher",
        formula="min over classes of the number of distinct sensitive values",
        source="Machanavajjhala et al. 2007",
        meaning="The smallest number of different sensitive values in any class.",
        conclude=(
            "At 1 there is a class where everybody has the same value: who is known to be in "
            "it is known to have it."
        ),
    )


@spec
class LEntropy(OfClasses):
    """Least exp(entropy) of the sensitive values of a class."""

    about: ClassVar[About] = About(
        key="l_entropy",
        title="Entropy l-diversity",
        family="attribute",
        unit="number",
        better="higher",
        formula="min over classes of exp(-sum of p log p)",
        source="Machanavajjhala et al. 2007",
        meaning=(
            "The same, but rare values count for less: as many equally frequent values as "
            "would be equally hard to guess."
        ),
        conclude=(
            "Close to the distinct l, values are well mixed; close to 1, one value dominates a "
            "class."
        ),
    )


@spec
class LRecursive(OfClasses):
    """Largest l for which every class is recursively (c, l)-diverse."""

    about: ClassVar[About] = About(
        key="l_recursive",
        title="Recursive (c, l)-diversity",
        family="attribute",
        unit="number",
        better="higher",
        formula=(
            "largest l with r_1 < c * (r_l + ... + r_m) in every class, r sorted by frequency"
        ),
        source="Machanavajjhala et al. 2007",
        meaning=(
            "The largest l for which the most frequent sensitive value of each class is "
            "balanced by the rarer ones."
        ),
        conclude=(
            "The higher it is, the less an attacker learns even after ruling some values out."
        ),
    )

    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        USUAL_C, description="c of recursive (c, l)-diversity."
    )

    def asks(self, given: Given) -> Diversities:
        return Diversities(self.c)


@spec
class TCloseness(OfClasses):
    """Largest earth mover's distance between a class and the whole table."""

    about: ClassVar[About] = About(
        key="t_closeness",
        title="t-closeness",
        family="attribute",
        unit="number",
        better="lower",
        formula=("max over classes of the earth mover's distance to the table's distribution"),
        source="Li, Li, Venkatasubramanian 2007",
        meaning=(
            "How far the sensitive values of the most unusual class are from those of the table."
        ),
        conclude=(
            "At 0, knowing someone's class says nothing new about the sensitive value; at 1, "
            "it says everything."
        ),
    )


@spec
class Homogeneous(OfClasses):
    """Share of records in classes with one sensitive value."""

    about: ClassVar[About] = About(
        key="homogeneous",
        title="One-valued classes",
        family="attribute",
        unit="share",
        better="lower",
        formula="records in classes with one sensitive value / n",
        source="Senavirathne, Torra 2021, section 5.2",
        meaning=("The share of records in classes where everybody has the same sensitive value."),
        conclude=(
            "For these people k protects the name but not the secret: finding the class is enough."
        ),
        outside="share of records",
    )
