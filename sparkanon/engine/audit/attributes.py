"""What classes of the release tell about sensitive columns: l-diversity and t-closeness."""

from __future__ import annotations

from sparkanon.engine.count.sensitive import diversity_of, sensitive
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.measures import Measure, diversity


def attribute_measures(sides: Sides, c: float) -> list[Measure]:
    """ATTRIBUTES for each sensitive column, and the worst of them for the table."""
    found: list[Measure] = []
    for i, name in enumerate(sides.sensitive):
        column = sensitive(sides.released, f"s{i}")
        diverse = diversity_of(sides.released, sides.released_cells, column, c)
        found += diversity.finish(diverse, name)
    return diversity.worst(found) + found
