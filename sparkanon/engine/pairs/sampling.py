"""A hash sample of a pair: bins, cuts and deciles are fitted on it, never a risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.session.session import many_classes
from sparkanon.engine.sql.rows import hash_of
from sparkanon.measures import ranks
from sparkanon.measures.entropy import ColumnBins
from sparkanon.measures.grids import (
    CategoryGrid,
    Grid,
    coarse_nominal,
    coarse_ordered,
    grid_of,
)
from sparkanon.numeric.records import Floats, Labels, Scale

ROWS = 50_000
CUTS = 1024
CATEGORIES = 255  # with names of their own; all others share one


@dataclass(frozen=True)
class Binning:
    """How a column is counted, the same on both sides."""

    bins: ColumnBins
    grid: Grid | CategoryGrid
    categories: tuple[str, ...] = ()

    def codes(self, cells: pa.Array) -> Labels:
        null = cells.is_null().to_numpy(zero_copy_only=False)
        if isinstance(self.grid, Grid):
            return self.grid.codes(cells.fill_null(0.0).to_numpy(zero_copy_only=False), null)
        named = pa.compute.index_in(cells, pa.array(self.categories, pa.string()))
        others = len(self.categories)
        return self.grid.codes(named.fill_null(others).to_numpy(zero_copy_only=False), null)


def sample(side: DataFrame, numbers: Sequence[str], rows: int, wanted: int = ROWS) -> pa.Table:
    """Some `wanted` rows of these expressions, chosen by their own hash; as c0, c1, ...

    The sample is the same on any cluster: of equal rows, a number in proportion is drawn, rounded
    by their hash. If equal rows were drawn all or none, a table of few combinations would give a
    huge sample or an empty one.
    """
    names = [f"c{i}" for i in range(len(numbers))]
    named = side.selectExpr(*(f"{sql} as {c}" for sql, c in zip(numbers, names, strict=True)))
    if rows <= wanted:
        return named.toArrow()
    chance = f"({hash_of(names)} / double({2**64}) + 0.5)"
    drawn = f"cast(floor(n * double({wanted / rows!r}) + {chance}) as int) as n"
    sizes = named.groupBy(*names).agg(F.expr("count(1) as n")).selectExpr(*names, drawn)
    with many_classes(side.sparkSession):
        return sizes.selectExpr(*names, "explode(array_repeat(0, n))").select(*names).toArrow()


def binnings(
    compared: Sequence[Compared], original: pa.Table, released: pa.Table
) -> tuple[Binning, ...]:
    """Bins for every column, fitted on the samples of both sides."""
    made = []
    for i, c in enumerate(compared):
        x, z = (table.column(f"c{i}").combine_chunks() for table in (original, released))
        make = _nominal if c.scale is Scale.NOMINAL else _ordered
        made.append(make(c.name, x, z))
    return tuple(made)


def cuts(compared: Sequence[Compared], original: pa.Table) -> tuple[Floats, ...]:
    """For ranks: values of the sample of every ordered column, at most CUTS of them."""
    return tuple(
        ranks.cuts_of(_sorted(original.column(f"c{i}").combine_chunks()), CUTS)
        for i, c in enumerate(compared)
        if c.scale is not Scale.NOMINAL
    )


def _sorted(cells: pa.Array) -> Floats:
    return np.sort(cells.drop_null().to_numpy(zero_copy_only=False))


def _ordered(name: str, x: pa.Array, z: pa.Array) -> Binning:
    grid = grid_of(np.sort(np.concatenate([_sorted(x), _sorted(z)])))
    whole = Binning(ColumnBins(name, np.arange(grid.bins)), grid)
    counts = np.bincount(whole.codes(x), minlength=grid.bins)
    return Binning(ColumnBins(name, coarse_ordered(counts)), grid)


def _nominal(name: str, x: pa.Array, z: pa.Array) -> Binning:
    both = pa.chunked_array([x, z]).drop_null().value_counts()
    found = sorted((-v["counts"], v["values"]) for v in both.to_pylist())[:CATEGORIES]
    categories = tuple(value for _, value in found)
    grid = CategoryGrid(len(categories) + 1)
    whole = Binning(ColumnBins(name, np.arange(grid.bins)), grid, categories)
    counts = np.bincount(whole.codes(x), minlength=grid.bins)
    return Binning(ColumnBins(name, coarse_nominal(counts)), grid, categories)
