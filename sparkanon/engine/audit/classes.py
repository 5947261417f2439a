"""Classes of the release, and how well subsets of columns tell the originals apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.count.class_sizes import size_buckets
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.measures import Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.measures.uniqueness import SubsetClasses


def class_sizes(sides: Sides, k: int) -> ClassSizes:
    """Sizes of the sets of records that share all released cells; a null is a value.

    Of a release that draws from groups, where the pairing tells them: the sizes of the groups.
    """
    own = [sides.group] if sides.group is not None else sides.released_cells
    return size_buckets(sides.released.groupBy(*own), k)


def class_measures(sizes: ClassSizes) -> list[Measure]:
    share = sizes.below_k / sizes.records if sizes.records else 0.0
    return [Measure("min_class_size", float(sizes.smallest)), Measure("below_k", share)]


def subset_measures(sides: Sides, largest: int) -> list[Measure]:
    """`uniqueness` and `separation`: of the release over all columns, of the original by subset.

    One aggregation a subset; a table with many quasi-identifiers has many of them.
    """
    found = list(_two(_classes(sides.released, sides.released_cells), None))
    places = range(len(sides.compared))
    for size in range(1, min(largest, len(sides.compared)) + 1):
        for chosen in combinations(places, size):
            name = " + ".join(sides.compared[i].name for i in chosen)
            found += _two(_classes(sides.original, [f"x{i}" for i in chosen]), name)
    return found


def _classes(table: DataFrame, columns: Iterable[str]) -> SubsetClasses:
    sizes = table.groupBy(*columns).agg(F.expr("count(1) as n"))
    (row,) = sizes.selectExpr(
        "count_if(n = 1) as singles",
        "coalesce(sum(n), 0) as records",
        # the square of a large table does not fit into 64 bits
        "coalesce(sum(cast(n as decimal(19, 0)) * n), 0) as squares",
    ).collect()
    return SubsetClasses(int(row["singles"]), int(row["records"]), int(row["squares"]))


def _two(classes: SubsetClasses, column: str | None) -> Iterator[Measure]:
    yield Measure("uniqueness", classes.uniqueness, column)
    yield Measure("separation", classes.separation, column)
