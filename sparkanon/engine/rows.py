"""Stable row keys: order, sample and hash cuts come from the row itself, never from its place."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.names import col


def row_hash(fields: Iterable[T.StructField]) -> Column:
    """A 64-bit hash of these cells. Equal rows are interchangeable and need no further order.

    It carries no key, because Spark prints its plans; what must be secret (output order, draws)
    is keyed in the kernels. `xxhash64` skips nulls, so the mark beside each cell keeps
    (null, x) and (x, null) apart.
    """
    parts: list[Column] = []
    for field in fields:
        cell = col(field.name)
        parts += [_hashable(cell, field.dataType), cell.isNull()]
    return F.xxhash64(*parts)


def _hashable(cell: Column, kind: T.DataType) -> Column:
    return F.to_json(F.struct(cell)) if _holds_map(kind) else cell


def _holds_map(kind: T.DataType) -> bool:
    """Maps have no hash in Spark, and neither have variants."""
    if isinstance(kind, T.ArrayType):
        return _holds_map(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_holds_map(field.dataType) for field in kind.fields)
    return isinstance(kind, T.MapType | T.VariantType)


def sampled(key: Column, share: float) -> Column:
    """Whether a row is in the hash sample of this share (its high bits decide)."""
    return key < F.lit(int(-(2**63) + share * 2**64)) if share < 1 else F.lit(True)
