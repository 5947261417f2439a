"""Parts of a run, as cleared by `shown`, turned into charts with the table behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from sparkanon.report import charts
from sparkanon.report.charts import Bar
from sparkanon.report.clearing import Part
from sparkanon.report.glossary import Family, word_for
from sparkanon.report.numbers import percent, shown_number
from sparkanon.report.svg import Format

WITHHELD = "withheld"


@dataclass(frozen=True)
class Figure:
    """A chart, what it shows in a sentence, and its numbers as a table."""

    key: str
    title: str
    chart: Markup
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[Markup, str], ...] = ()


def share(value: float | None) -> str:
    return WITHHELD if value is None else percent(100 * value)


def format_of(measure: str) -> Format:
    unit = word_for(measure).unit
    return lambda value: shown_number(value, unit)


def count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def class_sizes(cleared: Part) -> Figure | None:
    sizes = cleared.get("class_sizes")
    if not sizes or not sizes["histogram"]:
        return None
    k = cleared["k"]
    bars, rows = [], []
    for cell in sizes["histogram"]:
        size = size_range(cell, k)
        style = "bad" if cell["below"] else "released"
        named = f"class size {size}: {count(cell['records'])} records"
        bars.append(Bar(size, cell["share"], f"{named}, {share(cell['share'])}", style))
        rows.append((size, count(cell["classes"]), count(cell["records"]), share(cell["share"])))
    note = "Each bar: the share of released records that hide in a class of this size."
    if any(cell["below"] for cell in sizes["histogram"]):
        note += f" There must be no class under k = {k}."
    if any(cell["share"] is None for cell in sizes["histogram"]):
        note += (
            " Hatched bars are withheld: they stand for too few records, or would give them away."
        )
    return Figure(
        "class-size-chart",
        "Share of records by size of their class",
        charts.columns("Share of records by class size", bars, percents, "records in the class"),
        note,
        ("class size", "classes", "records", "share of records"),
        tuple(rows),
    )


def percents(value: float) -> str:
    return percent(100 * value)


def size_range(cell: Part, k: int) -> str:
    """A bucket of class sizes in words; sizes under k share one."""
    low, high = cell["low"], cell["high"]
    if isinstance(low, str) or low < k:
        return f"under {k}" if isinstance(high, str) or high < k else f"up to {high:,}"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def per_column(cleared: Part, family: Family) -> list[Figure]:
    """A bar a column for each measure of the family that was taken by column and is drawn."""
    by_measure: dict[str, list[Part]] = {}
    for m in cleared["measures"]:
        word = word_for(m["measure"])
        if m["column"] is not None and word.family == family and word.drawn:
            by_measure.setdefault(m["measure"], []).append(m)
    return [_columns_of(m, found) for m, found in by_measure.items()]


def _columns_of(measure: str, found: Sequence[Part]) -> Figure:
    word = word_for(measure)
    found = sorted(found, key=lambda m: -number_or(m["value"], 0.0))
    bars = [
        Bar(
            m["column"],
            number_or(m["value"]),
            f"{m['column']}: {m['text']}",
            low=number_or(m["low"]),
            high=number_or(m["high"]),
        )
        for m in found
    ]
    return Figure(
        f"columns-{measure}",
        word.title,
        charts.rows(f"{word.title} by column", bars, format_of(measure)),
        f"{word.meaning} ({word.direction})",
        ("column", word.title.lower()),
        tuple((m["column"], m["text"]) for m in found),
    )


def number_or(value: Any, otherwise: Any = None) -> Any:
    return value if isinstance(value, int | float) else otherwise


def distributions(cleared: Part) -> list[Figure]:
    return [
        _distribution(i, d)
        for i, d in enumerate(cleared["distributions"])
        if 0 < len(d["original"]) == len(d["released"]) == len(d["edges"]) - 1
        and None not in d["edges"]
    ]


def _distribution(number: int, d: Part) -> Figure:
    bins = [f"{low:+.2f} to {high:+.2f}" for low, high in pairwise(d["edges"])]
    pairs = list(zip(d["original"], d["released"], strict=True))
    rows = tuple((b, share(x), share(z)) for b, (x, z) in zip(bins, pairs, strict=True))
    hovers = [f"{b}: original {x}, released {z}" for b, x, z in rows]
    first, last = d["edges"][0], d["edges"][-1]
    # the word must stand where the mean is, and that is the middle only of even bins
    mean = "mean" if abs(first + last) <= 0.2 * (last - first) else ""
    whole = [(x, z) for x, z in pairs if x is not None and z is not None]
    moved = f"{percent(50 * sum(abs(x - z) for x, z in whole))} of records changed bins"
    if len(whole) < len(pairs):
        moved = "some bins are withheld"
    return Figure(
        f"distribution-{number}",
        d["column"],
        charts.overlay(
            f"Distribution of {d['column']} before and after",
            d["original"],
            d["released"],
            hovers,
            (f"{first:+.1f} sd", mean, f"{last:+.1f} sd"),
        ),
        f"At least {moved}" if len(whole) == len(pairs) else moved.capitalize(),
        (d["unit"] or "bin", "original", "released"),
        rows,
    )


def _square(matrix: Sequence[Sequence[Any]], size: int) -> bool:
    return len(matrix) == size and all(len(row) == size for row in matrix)


def correlations(cleared: Part) -> list[Figure]:
    given = cleared.get("correlations")
    if not given:
        return []
    names = given["columns"]
    before, after = given["original"], given["released"]
    if not all(_square(matrix, len(names)) for matrix in (before, after)):
        return []
    change = [
        [None if x is None or z is None else z - x for x, z in zip(row, other, strict=True)]
        for row, other in zip(before, after, strict=True)
    ]
    largest = max((abs(c) for row in change for c in row if c is not None), default=0.0)
    full = max(largest, 0.1)
    shown = (
        ("original", "Original", before, 1.0, "Full colour: 1."),
        ("released", "Released", after, 1.0, "Full colour: 1."),
        (
            "difference",
            "Difference",
            change,
            full,
            f"Released minus original: blue rose, orange fell. Full colour: {full:.2f}.",
        ),
    )
    return [
        Figure(
            f"correlations-{key}",
            title,
            charts.heat_map(f"Correlations, {title.lower()}", names, matrix, scale),
            note,
            ("column", *names),
            tuple(
                (n, *("not measured" if v is None else f"{v:+.2f}" for v in row))
                for n, row in zip(names, matrix, strict=True)
            ),
        )
        for key, title, matrix, scale, note in shown
    ]


def largest_changes(cleared: Part, most: int = 6) -> list[tuple[str, str, str]]:
    """The pairs of columns whose correlation changed most: names, before and after, change."""
    shown = correlations(cleared)
    if not shown:
        return []
    given = cleared["correlations"]
    names, found = given["columns"], []
    for i, column in enumerate(names):
        for j in range(i):
            x, z = given["original"][i][j], given["released"][i][j]
            if x is not None and z is not None:
                found.append((f"{names[j]} and {column}", x, z))
    found.sort(key=lambda pair: -abs(pair[2] - pair[1]))
    return [(pair, f"{x:+.2f} to {z:+.2f}", f"{z - x:+.2f}") for pair, x, z in found[:most]]


def interval(m: Part) -> str:
    if m["low"] is None or m["high"] is None:
        return ""
    return f"{m['low_text']} to {m['high_text']}"
