"""What classes say about sensitive columns: l-diversity, t-closeness, homogeneous classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from sparkanon.measures.base import About, Measure
from sparkanon.measures.diversity import Diversities, Diversity
from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec

USUAL_C = 2.0  # of recursive (c, l)-diversity; all measures share one count if it is theirs, too


def with_worst(about: About, tallies: Mapping[str, Diversity]) -> list[Measure]:
    """The worst column as the table's value, then each column's."""
    # a tally names its numbers as the measures do
    columns = [
        Measure(about.key, float(getattr(tally, about.key)), name)
        for name, tally in tallies.items()
    ]
    return [*worst(about, columns), *columns]


def worst(about: About, columns: Sequence[Measure]) -> list[Measure]:
    """The worst value of a measure that was taken of several columns, as the table's value."""
    values = [one.value for one in columns if one.value is not None]
    choose = max if about.better == "lower" else min
    return [Measure(about.key, choose(values))] if values else []


@spec
class LDistinct:
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
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Diversities(USUAL_C),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return with_worst(self.about, known[Diversities(USUAL_C)])


@spec
class LEntropy:
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
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Diversities(USUAL_C),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return with_worst(self.about, known[Diversities(USUAL_C)])


@spec
class LRecursive:
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
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = USUAL_C

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Diversities(self.c),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return with_worst(self.about, known[Diversities(self.c)])


@spec
class TCloseness:
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
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Diversities(USUAL_C),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return with_worst(self.about, known[Diversities(USUAL_C)])


@spec
class Homogeneous:
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
    key: ClassVar[str] = about.key
    title: ClassVar[str] = about.title
    source: ClassVar[str] = about.source
    ordered: ClassVar[bool] = False

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return (Diversities(USUAL_C),)

    def finish(self, given: Given, known: Known) -> list[Measure]:
        return with_worst(self.about, known[Diversities(USUAL_C)])
