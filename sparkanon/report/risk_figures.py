"""Figures of risk: attacks, who is found most easily, and risk against loss over a sweep."""

from __future__ import annotations

from sparkanon.catalogue import BASELINES
from sparkanon.report import charts
from sparkanon.report.charts import Bar, Point
from sparkanon.report.clearing import Part
from sparkanon.report.figures import (
    Figure,
    count,
    format_of,
    interval,
    number_or,
    percents,
    share,
)
from sparkanon.report.glossary import word_for
from sparkanon.report.numbers import plain


def attacks(cleared: Part) -> Figure | None:
    """Every attack on the whole table, with the random guess as a line if all have the same."""
    found = {m["measure"]: m for m in cleared["measures"] if m["column"] is None}
    guesses = {
        word_for(name).title: value
        for name in dict.fromkeys(BASELINES[risk] for risk in found if risk in BASELINES)
        if (value := number_or(found.get(name, {}).get("value"))) is not None
    }
    baselines = set(BASELINES.values())
    risks = [
        m
        for name, m in found.items()
        if word_for(name).family == "linkage" and name not in baselines
    ]
    if not risks:
        return None
    bars, rows = [], []
    for m in risks:
        word = word_for(m["measure"])
        bars.append(
            Bar(
                word.title,
                number_or(m["value"]),
                f"{word.title}: {m['text']}",
                low=number_or(m["low"]),
                high=number_or(m["high"]),
            )
        )
        rows.append((word.title, m["text"], interval(m) or "exact"))
    rows += [(title, share(guess), "") for title, guess in guesses.items()]
    reference = None
    note = "The share of records for which the attack succeeds; thin lines are 95 % limits."
    if len(guesses) == 1:
        ((title, guess),) = guesses.items()
        reference = guess, f"{title}: {share(guess)}"
        note += f" The dashed line is a random guess, {share(guess)}."
    return Figure(
        "attack-chart",
        "Attacks on the whole table",
        charts.rows("Risk of each attack", bars, percents, reference),
        note,
        ("attack", "succeeds for", "95 % limits"),
        tuple(rows),
    )


def outlyingness(cleared: Part) -> Figure | None:
    found = cleared["outlyingness"]
    if not found:
        return None
    bars = [
        Bar(
            plain(row["decile"] or 0),
            row["linkage"],
            f"decile {plain(row['decile'] or 0)}: {share(row['linkage'])}, guess"
            f" {share(row['baseline'])}",
            mark=row["baseline"],
        )
        for row in found
    ]
    rows = tuple(
        (
            plain(row["decile"] or 0),
            count(row["records"]),
            share(row["linkage"]),
            share(row["baseline"]),
        )
        for row in found
    )
    return Figure(
        "outlyingness-chart",
        "How easily unusual people are found",
        charts.columns(
            "Linkage risk by outlyingness",
            bars,
            percents,
            "decile: 1 the most ordinary, 10 the most unusual",
        ),
        "Records sorted by their distance from the middle of the table, in ten equal parts. The"
        " dashes are a random guess. Bars that rise to the right say that unusual people stand"
        " out even after masking.",
        ("decile", "records", "linkage", "random guess"),
        rows,
    )


def _series(sweep: Part) -> dict[tuple[str, ...], int]:
    """A number for each combination of methods, in order of appearance."""
    numbers: dict[tuple[str, ...], int] = {}
    for cell in sweep["cells"]:
        numbers.setdefault(_methods(cell), len(numbers))
    return numbers


def _k(cell: Part) -> str:
    return "none" if cell["k"] is None else plain(cell["k"])


def _methods(cell: Part) -> tuple[str, ...]:
    return tuple(str(cell[axis]) for axis in ("grouping", "release", "space") if axis in cell)


def by_k(cleared: Part) -> Figure | None:
    """Risk over k, one line a combination of methods."""
    sweep = cleared.get("sweep")
    if not sweep:
        return None
    y = sweep["y"]
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for cell in sweep["cells"]:
        risk = number_or(cell["measures"].get(y))
        if cell["k"] is not None and risk is not None:
            found.setdefault(_methods(cell), []).append((cell["k"], risk))
    series = {methods: sorted(points) for methods, points in found.items()}
    if not any(len(points) > 1 for points in series.values()):
        return None
    numbers = _series(sweep)
    named = [(", ".join(m), series.get(m, [])) for m in numbers if m in series]
    return Figure(
        "by-k-chart",
        "Risk by k",
        charts.lines(
            f"{word_for(y).title} by k", named, (plain, format_of(y)), ("k", word_for(y).title)
        ),
        "Where a line flattens, a larger k buys little protection for what it costs.",
        ("method", "k", word_for(y).title.lower()),
        tuple((n, plain(k), format_of(y)(r)) for n, points in named for k, r in points),
        tuple((charts.legend_mark(i), n) for i, (n, _) in enumerate(named)),
    )


def risk_map(cleared: Part) -> Figure | None:
    """Risk against loss, a point a cell of the sweep."""
    sweep = cleared.get("sweep")
    if not sweep:
        return None
    x, y, numbers = sweep["x"], sweep["y"], _series(sweep)
    points, rows = [], []
    for i, cell in enumerate(sweep["cells"]):
        at = number_or(cell["measures"].get(x)), number_or(cell["measures"].get(y))
        texts = cell["texts"].get(x, "not measured"), cell["texts"].get(y, "not measured")
        label = cell.get("label") or f"k = {_k(cell)}, {', '.join(_methods(cell))}"
        rows.append(
            (
                label,
                _k(cell),
                *texts,
                "yes" if cell["pareto"] else "no",
                cell.get("status", ""),
            )
        )
        if None not in at:
            front = ", on the front" if cell["pareto"] else ""
            name = f"{label}: {word_for(x).title} {texts[0]}, {word_for(y).title} {texts[1]}"
            points.append(Point(i, *at, name + front, numbers[_methods(cell)], cell["pareto"]))
    titles = word_for(x).title, word_for(y).title
    return Figure(
        "risk-map",
        "Risk against loss",
        charts.scatter(
            f"{titles[1]} against {titles[0]}", points, (format_of(x), format_of(y)), titles
        ),
        "Down and to the left is better. No other combination tried has both less risk and less"
        " loss than the points on the line. Choose a point to read it.",
        ("combination", "k", titles[0].lower(), titles[1].lower(), "on the front", "status"),
        tuple(rows),
        tuple((charts.legend_mark(i), ", ".join(m)) for m, i in numbers.items()),
    )
