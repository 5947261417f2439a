"""Line charts side by side as one PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparkanon.report.raster import BLACK, Canvas, Colour

COLOURS: tuple[Colour, ...] = (
    (31, 119, 180), (230, 120, 20), (44, 140, 60), (150, 80, 180), (200, 40, 50), (110, 110, 110),
)  # fmt: skip
GREY: Colour = (225, 225, 225)
WIDTH, HEIGHT = 560, 380
LEFT, RIGHT, TOP, BOTTOM = 84, 32, 36, 56


@dataclass(frozen=True)
class Panel:
    """One chart: for each series its points in the order of x, which is drawn by logarithm."""

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]


def draw(panels: Sequence[Panel], columns: int = 2) -> bytes:
    """All panels in rows of `columns`, with one legend at the bottom."""
    rows = math.ceil(len(panels) / columns)
    canvas = Canvas(columns * WIDTH, rows * HEIGHT + 34)
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    for i, panel in enumerate(panels):
        _panel(canvas, panel, i % columns * WIDTH, i // columns * HEIGHT, colours)
    x = 20.0
    for name, colour in colours.items():
        y = rows * HEIGHT + 16
        canvas.line((x, y), (x + 30, y), colour, 3)
        canvas.text(x + 40, y, name)
        x += 70 + 12 * len(name)
    return canvas.png()


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers within low..high, at most `most` + 1 of them."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(m * step for m in (1, 2, 5, 10) if (high - low) / (m * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _panel(
    canvas: Canvas, panel: Panel, left: int, top: int, colours: Mapping[str, Colour]
) -> None:
    points = [point for series in panel.series.values() for point in series]
    xs, ys = sorted({x for x, _ in points}), [y for _, y in points]
    pad = 0.05 * (max(ys) - min(ys)) or 0.05
    low, high = min(ys) - pad, max(ys) + pad
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    span = math.log(xs[-1] / xs[0]) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        across = math.log(x / xs[0]) / span
        return left + LEFT + across * width, top + TOP + (high - y) / (high - low) * height

    canvas.text(left + LEFT, top + 18, panel.title)
    for y in ticks(low, high):
        canvas.line(at(xs[0], y), at(xs[-1], y), GREY, 1)
        canvas.text(left + LEFT - 8, at(xs[0], y)[1], f"{y:g}", "right")
    free = -math.inf
    for x in xs:
        place = at(x, low)
        canvas.line(place, (place[0], place[1] + 5), BLACK, 1)
        label = f"{x:g}"
        if place[0] - 6 * len(label) > free:
            canvas.text(place[0], place[1] + 18, label, "middle")
            free = place[0] + 6 * len(label) + 8
    canvas.line(at(xs[0], low), at(xs[-1], low), BLACK, 1)
    canvas.line(at(xs[0], low), at(xs[0], high), BLACK, 1)
    canvas.text(left + LEFT + width / 2, top + HEIGHT - 18, f"{panel.x}   ({panel.y})", "middle")
    for name, series in panel.series.items():
        for one, two in pairwise(series):
            canvas.line(at(*one), at(*two), colours[name], 3)
        for point in series:
            canvas.line(at(*point), at(*point), colours[name], 8)
