"""Stable row keys: order, sample and hash cuts follow from a row's cells, never from its place."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as T

from sparkanon.engine.sql.names import KEY, quoted


def row_hash(fields: Iterable[T.StructField]) -> str:
    """A 64-bit hash of these cells, in SQL. Equal rows are interchangeable and need no order.

    It carries no key, because Spark prints its plans; what must be secret (output order, draws)
    is keyed in the kernels.
    """
    named = [(quoted(field.name), field.dataType) for field in fields]
    return _hashed(
        (f"to_json(struct({cell}))" if _holds_map(kind) else cell, cell) for cell, kind in named
    )


def hash_of(cells: Iterable[str], *more: str) -> str:
    """A 64-bit hash of these cells, which may be null, and of `more`, which are not; in SQL."""
    return _hashed(((cell, cell) for cell in cells), *more)


def _hashed(cells: Iterable[tuple[str, str]], *more: str) -> str:
    """The hash of `cells`, pairs of the SQL to hash and the cell that it was made from.

    `xxhash64` skips nulls, so a mark beside each cell makes (null, x) and (x, null) differ.
    """
    marked = (f"{hashed}, {cell} is null" for hashed, cell in cells)
    return f"xxhash64({', '.join((*marked, *more))})"


def _holds_map(kind: T.DataType) -> bool:
    """Whether the type is or holds a map or a variant, which Spark cannot hash."""
    if isinstance(kind, T.ArrayType):
        return _holds_map(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_holds_map(field.dataType) for field in kind.fields)
    return isinstance(kind, T.MapType | T.VariantType)


def sampled(share: float) -> str:
    """Whether a row is in the hash sample of this share (its high bits decide), in SQL."""
    return f"{KEY} < {int(-(2**63) + share * 2**64)}" if share < 1 else "true"
