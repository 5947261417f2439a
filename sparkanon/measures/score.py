"""One number for the trade-off between loss and risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from sparkanon.measures.base import About, Described, Measure, Taken
from sparkanon.measures.needs import Given
from sparkanon.needs import Known, Need
from sparkanon.registry import spec

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
TERMS = ("il_metrics", "il1s", "linkage_masked_to_original", "interval_sd")


@spec
class IlDrScore(Described):
    """0.25 * (ILMetrics + IL1s + DDR + IDR) of ROUND 3.3.3; the lower the better.

    Scales are those of ROUND's tables 1 to 6: ILMetrics in percent, IL1s as the plain sum over
    cells, the two risks as shares between 0 and 1 (table 1: 0.25 * (43.06 + 179.47 + 0.24 + 0.03)
    = 55.70). So the score grows with the number of cells and the risks weigh little in it: it
    compares methods on one table, and other weights can restore a balance.
    """

    about: ClassVar[About] = About(
        key="il_dr_score",
        title="Loss and risk score",
        family="summary",
        unit="number",
        better="lower",
        formula="0.25 * (ILmetrics + IL1s + DDR + IDR)",
        source="Senavirathne, Torra 2019, section 3.3",
        meaning="Two losses and two risks with equal weight.",
        conclude=(
            "Good for ranking releases of one table; it hides whether loss or risk made it high."
        ),
        outside="private",  # or the shares in it could be computed to the last record
        terms=TERMS,
    )
    ordered: ClassVar[bool] = True

    weights: tuple[Weight, Weight, Weight, Weight] = Field(
        (0.25, 0.25, 0.25, 0.25),
        strict=False,  # YAML and JSON have lists
        description="Of ILmetrics, IL1s, DDR and IDR, in this order.",
    )

    def needs(self, given: Given) -> tuple[Need[Any], ...]:
        return tuple(map(Taken, TERMS))

    def finish(self, given: Given, known: Known) -> list[Measure]:
        terms = [known[Taken(term)][0] for term in TERMS]
        value = self._score([m.value for m in terms])
        low = self._score([m.value if m.low is None else m.low for m in terms])
        high = self._score([m.value if m.high is None else m.high for m in terms])
        ends = (None, None) if low == high else (low, high)
        return [Measure(self.key, value, None, *ends)]

    def _score(self, terms: Sequence[float | None]) -> float | None:
        if any(term is None for term in terms):
            return None
        return sum(w * (t or 0.0) for w, t in zip(self.weights, terms, strict=True))
