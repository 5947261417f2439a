"""What may be shown of single values: names, numbers and rows of any part of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkanon.report.counts import coded_count, fewer, shown_count
from sparkanon.report.glossary import word_for
from sparkanon.report.numbers import finite, percent, shown_number

Part = Mapping[str, Any]
COUNT = "count"


def name(value: Any) -> str:
    """A column's name, with characters replaced that UTF-8 cannot encode."""
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() or c == " " else "\ufffd" for c in text)


def mapping(part: Any) -> Part:
    return part if isinstance(part, Mapping) else {}


def rows_of(run: Part, key: str) -> list[Part]:
    return [row for row in run.get(key) or () if isinstance(row, Mapping)]


def shown_value(
    measure: str, value: Any, k: int, rows: float | None
) -> tuple[float | str | None, str]:
    """A measure's value for JSON and as text."""
    number, word = finite(value), word_for(measure)
    if number is None:
        return None, shown_number(None, word.unit)
    if word.unit == COUNT:
        return coded_count(number, k), shown_count(number, k)
    if word.outside == "share of records" and rows:
        few = about_few(number, k, rows)
        if few is not None:
            return few, few
    return number, shown_number(number, word.unit)


def about_few(share: float, k: int, rows: float) -> str | None:
    """What is shown of a share that is, or leaves out, fewer than k of these records, or None."""
    records = round(share * rows, 6)
    if 0 < records < k:
        return f"under {percent(100 * k / rows)}" if k < rows else fewer(k)
    if 0 < rows - records < k:
        return f"over {percent(100 * (rows - k) / rows)}" if k < rows else fewer(k)
    return None
