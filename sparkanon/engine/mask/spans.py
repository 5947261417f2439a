"""Generalized groups as cells: the text of their ranges and sets, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sparkanon.engine.table.columns import Quasi
from sparkanon.numeric.records import Column, Scale
from sparkanon.policy import ColumnType
from sparkanon.releases import Generalized
from sparkanon.releases.generalize import HIDDEN, lowest_word

NO_CODE = -1.0  # the code of a set of categories, which no original has


def span_cells(
    quasi: Quasi,
    column: Column,
    spans: Generalized,
    categories: pa.Array | None,
    originals: pa.Array,
) -> tuple[Column, pa.Array]:
    """The column as it is measured, at the middle of its ranges, and the cells to publish."""
    if quasi.scale is Scale.NOMINAL:
        values = np.where(spans.low == spans.high, spans.low, NO_CODE)
        texts = _sets(
            spans, [] if categories is None else categories.cast(pa.string()).to_pylist()
        )
    else:
        values = spans.low / 2 + spans.high / 2
        values = np.where(spans.low == spans.high, spans.low, values)
        texts = _ranges(quasi, spans, originals)
    shown = [HIDDEN if hidden else text for text, hidden in zip(texts, spans.hidden, strict=True)]
    cells = pa.array(shown, pa.string(), mask=spans.null).take(pa.array(spans.labels))
    return column.with_values(values[spans.labels], spans.hidden[spans.labels]), cells


def _sets(spans: Generalized, names: list[str]) -> list[str]:
    groups = [[names[code] for code in codes] if names else [] for codes in spans.members or ()]
    if spans.ways is not None:
        return [lowest_word([spans.ways[name] for name in group]) for group in groups]
    return [group[0] if len(group) == 1 else "{" + ",".join(group) + "}" for group in groups]


def _ranges(quasi: Quasi, spans: Generalized, originals: pa.Array) -> list[str]:
    """[low, high] as the column's own type writes its values; a set where they are few."""
    if quasi.order is not None:
        ranks = zip(spans.low.astype(int), spans.high.astype(int), strict=True)
        within = [quasi.order[low : high + 1] for low, high in ranks]
        return [one[0] if len(one) == 1 else "{" + ",".join(one) + "}" for one in within]
    lows, highs = _ends(quasi, spans, originals)
    between = "{%s,%s}" if quasi.type is ColumnType.BOOLEAN else "[%s, %s]"
    return [
        low if low == high else between % (low, high)
        for low, high in zip(lows, highs, strict=True)
    ]


def _ends(quasi: Quasi, spans: Generalized, originals: pa.Array) -> Iterator[list[str]]:
    """The least and largest cells as Arrow has them, because a double may not hold a bigint."""
    own = replace(quasi, as_text=False).arrow
    cells = pa.table({"group": pa.array(spans.labels), "cell": originals.cast(own)})
    grouped = cells.group_by("group", use_threads=False)
    found = grouped.aggregate([("cell", "min"), ("cell", "max")]).sort_by("group")
    return (found.column(f"cell_{end}").cast(pa.string()).to_pylist() for end in ("min", "max"))
