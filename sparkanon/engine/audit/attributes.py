"""What classes of the release tell about sensitive columns: l-diversity and t-closeness."""

from __future__ import annotations

from sparkanon.engine.audit.pairs import Sides
from sparkanon.engine.audit.sensitive import diversity_of, sensitive
from sparkanon.measures import Measure, diversity
from sparkanon.measures.base import ATTRIBUTES

_WORST = {"t_closeness": max, "homogeneous": max}  # of all others the least is the worst


def attribute_measures(sides: Sides, c: float) -> list[Measure]:
    """ATTRIBUTES for each sensitive column, and the worst of them for the table."""
    found: list[Measure] = []
    for i, name in enumerate(sides.sensitive):
        column = sensitive(sides.released, f"s{i}")
        diverse = diversity_of(sides.released, sides.released_cells, column, c)
        found += diversity.finish(diverse, name)
    if not found:
        return []
    worst = []
    for name in ATTRIBUTES:
        values = [m.value for m in found if m.measure == name and m.value is not None]
        worst.append(Measure(name, _WORST.get(name, min)(values)))
    return worst + found
