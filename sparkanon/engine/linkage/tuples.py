"""Linkage of a permuted release by the tuples of its blocks, which are published as they were.

The cells of a block of columns stay together, so every published tuple is some record's own. An
attacker who knows the cells finds the tuple at distance 0, and shares it only with records that
have the same cells. Of m originals and n released records with one tuple, min(m, n) can be
linked, each with a chance of 1/m from the release and of 1/n from the original.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.attacks.needs import BothWays
from sparkanon.engine.pairs.pairs import Compared, Sides
from sparkanon.engine.session.session import many_classes


def shares_of_tuples(sides: Sides, pair: DataFrame) -> dict[str, BothWays]:
    """For each block of columns, the share of records that its tuples link; a null is a value."""
    cells = {c.name: _cells(c, i, pair.schema) for i, c in enumerate(sides.compared)}
    blocks = [block for block in sides.blocks if all(name in cells for name in block)]
    with many_classes(pair.sparkSession):
        return {
            " + ".join(block): _linked([cells[name] for name in block], sides.unpublished, pair)
            for block in blocks
        }


def _cells(c: Compared, i: int, schema: T.StructType) -> tuple[str, str]:
    """The cells of both sides in SQL: as they are where types are equal, else as numbers.

    A double would take long decimals that differ for one value.
    """
    x, z = f"x{i}", f"z{i}"
    return (x, z) if schema[x].dataType == schema[z].dataType else (c.x, c.z)


def _linked(
    block: Sequence[tuple[str, str]], unpublished: DataFrame | None, pair: DataFrame
) -> BothWays:
    cells = [f"v{i}" for i in range(len(block))]
    x = [f"{own} as {cell}" for (own, _), cell in zip(block, cells, strict=True)]
    z = [f"{own} as {cell}" for (_, own), cell in zip(block, cells, strict=True)]
    rows = pair.selectExpr(*x, "1 as m", "0 as n").unionAll(
        pair.selectExpr(*z, "0 as m", "1 as n")
    )
    if unpublished is not None:
        rows = rows.unionAll(unpublished.selectExpr(*x, "1 as m", "0 as n"))
    sums = F.expr("sum(m) as m"), F.expr("sum(n) as n")
    tuples = rows.groupBy(*cells).agg(*sums).selectExpr("m", "n", "least(m, n) as both")
    found = tuples.selectExpr(
        "sum(if(m > 0, both / m, 0d)) / sum(n) as to_original",
        "sum(if(n > 0, both / n, 0d)) / sum(m) as to_released",
    ).first()
    if found is None or found["to_original"] is None:
        return BothWays(0.0, 0.0)
    return BothWays(float(found["to_original"]), float(found["to_released"]))
