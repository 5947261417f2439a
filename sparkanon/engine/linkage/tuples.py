"""Linkage of what a release that draws really publishes: the tuples of its blocks.

The cells of a block stay together, so every published tuple is somebody's own. Whoever knows the
cells finds it at distance 0 and shares it only with those who have the same: summed up, the share
of records that are linked is (different tuples) / (records), in both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.session.session import many_classes
from sparkanon.measures import Measure


def with_tuples(linked: Sequence[Measure], sides: Sides, pair: DataFrame) -> list[Measure]:
    """Linkage of the whole rows as it was found, or of the worst block where that is more."""
    shares = _shares(sides, pair)
    if not shares:
        return list(linked)
    worst = max(shares.values())
    found = [_at_least(one, worst) for one in linked]
    return found + [
        Measure(one.measure, share, name) for one in linked for name, share in shares.items()
    ]


def _shares(sides: Sides, pair: DataFrame) -> dict[str, float]:
    """For each block the share of its records that its tuples link; a null is a value."""
    places = {c.name: i for i, c in enumerate(sides.compared)}
    blocks = [block for block in sides.blocks if all(name in places for name in block)]
    if not blocks:
        return {}
    rows = pair.count()
    with many_classes(pair.sparkSession):
        return {
            " + ".join(block): pair.select(*(f"x{places[name]}" for name in block))
            .distinct()
            .count()
            / rows
            for block in blocks
        }


def _at_least(one: Measure, share: float) -> Measure:
    ends = (None if end is None else max(end, share) for end in (one.value, one.low, one.high))
    value, low, high = ends
    return replace(one, value=value, low=low, high=high)
