"""How many classes there are of which size, counted by Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F

from sparkanon.engine.session.session import many_classes
from sparkanon.measures.anonymity import ClassSizes, class_sizes, singles

SIZE = "__sparkanon_size"


def size_buckets(classes: GroupedData, k: int) -> ClassSizes:
    """The sizes of these classes, counted by Spark."""
    return class_sizes_of(classes.agg(F.expr(f"count(1) as {SIZE}")), k)


def class_sizes_of(classes: DataFrame, k: int) -> ClassSizes:
    """A handful of rows, however many classes there are."""
    own = singles(k)
    bucket = f"if({SIZE} < {own}, {SIZE}, floor(log2({SIZE} / {own})) + {own}) as bucket"
    wanted = f"min({SIZE}) as low", "count(1) as n", f"sum({SIZE}) as records"
    found = classes.selectExpr(SIZE, bucket).groupBy("bucket").agg(*map(F.expr, wanted))
    with many_classes(classes.sparkSession):
        rows = found.collect()  # at most 200 + log2(rows) of them
    return class_sizes(k, ((r["low"], r["n"], r["records"]) for r in rows))
