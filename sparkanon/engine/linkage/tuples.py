"""Linkage of a permuted release by the tuples of its blocks, which are published as they were.

The cells of a block of columns stay together, so every published tuple is some record's own. An
attacker who knows the cells finds the tuple at distance 0, and shares it only with records that
have the same cells. Summed up, the share of linked records is (different tuples) / (records), in
both directions.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.session.session import many_classes


def shares_of_tuples(sides: Sides, pair: DataFrame) -> dict[str, float]:
    """For each block of columns, the share of records that its tuples link; a null is a value."""
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
