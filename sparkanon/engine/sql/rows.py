"""Stable row keys: order, sample and hash cuts come from the row itself, never from its place."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as T

from sparkanon.engine.sql.names import KEY, quoted


def row_hash(fields: Iterable[T.StructField]) -> str:
    """A 64-bit hash of these cells, in SQL. Equal rows are interchangeable, they need no order.

    It carries no key, because Spark prints its plans; what must be secret (output order, draws)
    is keyed in the kernels. `xxhash64` skips nulls, so the mark beside each cell keeps
    (null, x) and (x, null) apart.
    """
    parts: list[str] = []
    for field in fields:
        cell = quoted(field.name)
        hashable = f"to_json(struct({cell}))" if _holds_map(field.dataType) else cell
        parts += [hashable, f"{cell} is null"]
    return f"xxhash64({', '.join(parts)})"


def _holds_map(kind: T.DataType) -> bool:
    """Maps have no hash in Spark, and neither have variants."""
    if isinstance(kind, T.ArrayType):
        return _holds_map(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_holds_map(field.dataType) for field in kind.fields)
    return isinstance(kind, T.MapType | T.VariantType)


def sampled(share: float) -> str:
    """Whether a row is in the hash sample of this share (its high bits decide), in SQL."""
    return f"{KEY} < {int(-(2**63) + share * 2**64)}" if share < 1 else "true"
