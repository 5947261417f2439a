"""The cells of a pair as numbers, for Spark and for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sparkanon.engine.pairs.pairs import Compared
from sparkanon.numeric.records import Column, Records, Scale


def sides_of(compared: Sequence[Compared]) -> list[str]:
    """The numbers of both sides as x0, ..., z0, ..., for `selectExpr`."""
    return [f"{c.x} as x{i}" for i, c in enumerate(compared)] + [
        f"{c.z} as z{i}" for i, c in enumerate(compared)
    ]


def records(compared: Sequence[Compared], *tables: tuple[pa.Table, str]) -> tuple[Records, ...]:
    """Cells of several (table, letter) as kernels' columns, categories coded alike in all."""
    made: list[list[Column]] = [[] for _ in tables]
    for i, c in enumerate(compared):
        cells = [table.column(f"{letter}{i}").combine_chunks() for table, letter in tables]
        for column, cell, values in zip(made, cells, _values(c.scale, cells), strict=True):
            null = cell.is_null().to_numpy(zero_copy_only=False).astype(np.bool_)
            column.append(Column(c.name, c.scale, np.where(null, 0.0, values), null))
    return tuple(tuple(columns) for columns in made)


def _values(scale: Scale, cells: Sequence[pa.Array]) -> list[Any]:
    if scale is not Scale.NOMINAL:
        return [cell.fill_null(0.0).to_numpy(zero_copy_only=False) for cell in cells]
    coded = pa.chunked_array(cells).dictionary_encode().unify_dictionaries()
    return [
        chunk.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        for chunk in coded.chunks
    ]
