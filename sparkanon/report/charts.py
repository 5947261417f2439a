"""The shapes of charts. They know values and labels, nothing of runs or measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sparkanon.report.svg import Axis, Format, axis, image, line, rect, short, tag, text

WIDTH = 520.0  # small, so that a phone need not shrink the words; wide screens enlarge it
HEIGHT = 296.0  # of a chart with two axes
SERIES = 6  # how many series have a colour of their own


@dataclass(frozen=True)
class Bar:
    """`value` None: withheld, drawn as a hatched stub that says nothing about its size."""

    label: str
    value: float | None
    hover: str
    style: str = "released"
    low: float | None = None
    high: float | None = None
    mark: float | None = None


@dataclass(frozen=True)
class Point:
    """One point of a map; `key` is its place in the list of cells."""

    key: int
    x: float
    y: float
    hover: str
    series: int
    front: bool


def columns(label: str, bars: Sequence[Bar], format_: Format, x_title: str) -> Markup:
    """Upright bars, each with an optional mark to compare it with."""
    height, left, bottom = 226.0, 52.0, 178.0
    seen = [v for bar in bars for v in (bar.value, bar.mark, bar.high) if v is not None]
    y = axis(seen, bottom, 14.0)
    step = (WIDTH - left - 8) / max(len(bars), 1)
    every = -(-len(bars) * max((len(b.label) for b in bars), default=1) * 8 // int(WIDTH - left))
    body = _grid(y, left, WIDTH, format_)
    for i, bar in enumerate(bars):
        x, width = left + i * step + step * 0.14, step * 0.72
        top = bottom - 9.0 if bar.value is None else y(bar.value)
        style = "withheld" if bar.value is None else bar.style
        body.append(rect(x, top, width, bottom - top, style, tag("title", bar.hover)))
        if bar.mark is not None:
            at = y(bar.mark)
            body.append(line(x - step * 0.1, at, x + width + step * 0.1, at, "mark"))
        if i % max(every, 1) == 0:
            body.append(text(x + width / 2, bottom + 16, bar.label, "middle"))
    body.append(line(left, bottom, WIDTH, bottom, "base"))
    body.append(text((left + WIDTH) / 2, height - 12, x_title, "middle", class_="axis-title"))
    return image(WIDTH, height, label, *body)


def _grid(y: Axis, left: float, right: float, format_: Format) -> list[Markup]:
    body = []
    for tick in y.ticks:
        body.append(line(left, y(tick), right, y(tick), "grid"))
        body.append(text(left - 8, y(tick) + 4, format_(tick), "end"))
    return body


def rows(
    label: str, bars: Sequence[Bar], format_: Format, reference: tuple[float, str] | None = None
) -> Markup:
    """Horizontal bars, each between its name and its value; whiskers where there are limits."""
    longest = max((len(bar.label) for bar in bars), default=1)
    left, right, each, top = min(28.0 + longest * 7.0, 212.0), WIDTH - 76, 26.0, 6.0
    seen = [v for bar in bars for v in (bar.value, bar.high) if v is not None]
    x = axis([*seen, reference[0]] if reference else seen, left, right)
    bottom = top + each * len(bars)
    body = [line(x(tick), top, x(tick), bottom, "grid") for tick in x.ticks]
    body += [text(x(tick), bottom + 16, format_(tick), "middle") for tick in x.ticks[::2]]
    for i, bar in enumerate(bars):
        y = top + i * each
        end = left + 9 if bar.value is None else x(bar.value)
        style = "withheld" if bar.value is None else bar.style
        title = tag("title", bar.hover)
        named = tag("title", bar.label)
        body.append(
            tag("text", short(bar.label, 28), named, x=left - 10, y=y + 17, text_anchor="end")
        )
        body.append(rect(left, y + 6, max(end - left, 1.5), each - 12, style, title))
        if bar.low is not None and bar.high is not None:
            body += _whisker(x(bar.low), x(bar.high), y + each / 2)
            end = max(end, x(bar.high))
        number = "withheld" if bar.value is None else format_(bar.value)
        body.append(text(end + 8, y + 17, number, class_="number"))
    if reference is not None:
        at = x(reference[0])
        body.append(line(at, top - 2, at, bottom + 2, "mark", tag("title", reference[1])))
    body.append(line(left, top, left, bottom, "base"))
    return image(WIDTH, bottom + 26, label, *body)


def _whisker(low: float, high: float, y: float) -> list[Markup]:
    return [
        line(low, y, high, y, "whisker"),
        line(low, y - 4, low, y + 4, "whisker"),
        line(high, y - 4, high, y + 4, "whisker"),
    ]


def overlay(
    label: str,
    original: Sequence[float | None],
    released: Sequence[float | None],
    hovers: Sequence[str],
    ends: tuple[str, str, str],
) -> Markup:
    """The original as grey bars, the release as a bold outline; withheld bins are hatched."""
    width, height, bottom = 280.0, 150.0, 126.0
    y = axis([v for v in (*original, *released) if v is not None], bottom, 8.0)
    step = (width - 8) / max(len(original), 1)
    body = []
    path = []
    for i, (before, after) in enumerate(zip(original, released, strict=True)):
        x = 4 + i * step
        if before is not None:
            body.append(rect(x + 0.5, y(before), step - 1, bottom - y(before), "original"))
        if before is None or after is None:
            body.append(rect(x + 0.5, bottom - 7, step - 1, 7, "withheld"))
        if after is not None:
            # a bin that is withheld breaks the line instead of looking like zero
            joins = i > 0 and released[i - 1] is not None
            path.append(f"{'L' if joins else 'M'}{x:.1f} {y(after):.1f}H{x + step:.1f}")
        body.append(rect(x, 4, step, bottom - 4, "touch", tag("title", hovers[i])))
    body.append(tag("path", d="".join(path), class_="after"))
    body.append(line(4, bottom, width - 4, bottom, "base"))
    for at, anchor, words in zip(
        (4, width / 2, width - 4), ("start", "middle", "end"), ends, strict=True
    ):
        body.append(text(at, bottom + 16, words, anchor))
    return image(width, height, label, *body)


def heat_map(
    label: str, names: Sequence[str], cells: Sequence[Sequence[float | None]], full: float
) -> Markup:
    """A square of cells, blue above zero and orange below; `full` is the strongest colour."""
    count = max(len(names), 1)
    size = max(min(232.0 / count, 44.0), 7.0)
    left, top = 112.0 if size >= 11 else 8.0, 8.0  # too many columns leave no room for names
    bottom = top + size * count
    body = []
    for i, row in enumerate(cells):
        if size >= 11:
            body.append(text(left - 6, top + (i + 0.5) * size + 4, short(names[i], 13), "end"))
        for j, value in enumerate(row):
            x, y = left + j * size, top + i * size
            hover = f"{names[i]} and {names[j]}: "
            hover += "not measured" if value is None else f"{value:+.2f}"
            style = "withheld" if value is None else "above" if value >= 0 else "below"
            strength = 1.0 if value is None else min(abs(value) / full, 1.0)
            cell = rect(x + 0.5, y + 0.5, size - 1, size - 1, style, tag("title", hover))
            body.append(tag("g", cell, opacity=f"{strength:.3f}"))
    if size >= 11:
        for j, column in enumerate(names):
            x, y = left + (j + 0.5) * size, bottom + 10
            body.append(
                text(x, y, short(column, 13), "end", transform=f"rotate(-45 {x:.1f} {y:.1f})")
            )
    return image(left + size * count + 8, bottom + (84 if size >= 11 else 10), label, *body)


def lines(
    label: str,
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    formats: tuple[Format, Format],
    titles: tuple[str, str],
) -> Markup:
    """One line a series; the legend is drawn by the page."""
    x, y, body = frame([p for _, points in series for p in points], formats, titles)
    for i, (named, points) in enumerate(series):
        style = f"series s{i % SERIES}"
        body.append(joined(points, x, y, style, tag("title", named)))
        for a, b in points:
            hover = f"{named}: {formats[0](a)}, {formats[1](b)}"
            body.append(symbol(i, x(a), y(b), 4.5, tag("title", hover)))
    return image(WIDTH, HEIGHT, label, *body)


def scatter(
    label: str, points: Sequence[Point], formats: tuple[Format, Format], titles: tuple[str, str]
) -> Markup:
    """A map of points that can be chosen by mouse, touch and keyboard; the front is joined."""
    x, y, body = frame([(p.x, p.y) for p in points], formats, titles)
    body += front_line([(p.x, p.y) for p in points if p.front], x, y)
    # the front last, so that nothing covers it
    for point in sorted(points, key=lambda p: p.front):
        ring = tag("circle", cx=x(point.x), cy=y(point.y), r=9.5, class_="ring")
        seen = symbol(point.series, x(point.x), y(point.y), 6.0 if point.front else 4.5)
        body.append(
            tag(
                "g",
                tag("title", point.hover),
                ring,
                seen,
                class_="point front-point" if point.front else "point",
                tabindex="0",
                role="button",
                aria_label=point.hover,
                data_cell=point.key,
            )
        )
    return image(WIDTH, HEIGHT, label, *body, role="group")


def frame(
    points: Sequence[tuple[float, float]],
    formats: tuple[Format, Format],
    titles: tuple[str, str],
    size: tuple[float, float] = (WIDTH, HEIGHT),
    top: float = 34.0,
) -> tuple[Axis, Axis, list[Markup]]:
    """Axes for these points, with ticks and titles; `top` leaves room above the highest tick."""
    (width, height), left = size, 54.0
    bottom = height - 52
    x = axis([x for x, _ in points], left, width - 18)
    y = axis([y for _, y in points], bottom, top)
    body = _grid(y, left, width, formats[1])
    for tick in x.ticks:
        body.append(text(x(tick), bottom + 18, formats[0](tick), "middle"))
    body.append(line(left, bottom, width, bottom, "base"))
    body.append(text(4, 14, titles[1], class_="axis-title"))
    body.append(text((left + width) / 2, height - 10, titles[0], "middle", class_="axis-title"))
    return x, y, body


def front_line(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> list[Markup]:
    """The Pareto front from left to right; one point is no line."""
    front = sorted(set(points))
    return [joined(front, x, y, "front")] if len(front) > 1 else []


def joined(
    points: Sequence[tuple[float, float]], x: Axis, y: Axis, style: str, *body: Markup
) -> Markup:
    path = "M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)
    return tag("path", *body, d=path, class_=style)


def symbol(series: int, x: float, y: float, r: float, *body: Markup) -> Markup:
    """A mark whose shape names the series as its colour does, for who cannot see the colours."""
    style = f"symbol s{series % SERIES}"
    shapes: dict[int, list[tuple[float, float]]] = {
        1: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        2: [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)],
        3: [(0, -1.4), (1.2, 0), (0, 1.4), (-1.2, 0)],
        4: [(0, 1.3), (1.2, -0.9), (-1.2, -0.9)],
        5: [(-1, 0), (-0.5, -1), (0.5, -1), (1, 0), (0.5, 1), (-0.5, 1)],
    }
    corners = shapes.get(series % SERIES)
    if corners is None:
        return tag("circle", *body, cx=x, cy=y, r=r, class_=style)
    points = " ".join(f"{x + a * r:.1f},{y + b * r:.1f}" for a, b in corners)
    return tag("polygon", *body, points=points, class_=style)


def legend_mark(series: int) -> Markup:
    return tag(
        "svg",
        symbol(series, 7, 7, 4.5),
        viewBox="0 0 14 14",
        width="14",
        height="14",
        aria_hidden="true",
    )
