"""The risk-utility map of a sweep, as one SVG file that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 58, 64
# Okabe and Ito's colours, without the yellow that white paper swallows; the marks differ, too,
# for those who see or print no colour.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The same, dark enough to be read as letters.
_INKS = ("#005A8D", "#A84A00", "#00745A", "#96467A", "#855C00", "#23709C", "#000000")
_MARKS = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",  # circle
    "M-4.5,-4.5h9v9h-9Z",  # square
    "M0,-6L5.5,4.5H-5.5Z",  # triangle
    "M0,-6.5L6.5,0L0,6.5L-6.5,0Z",  # diamond
    "M0,6L5.5,-4.5H-5.5Z",  # triangle on its head
)
_LETTER, _LINE = 6.3, 14  # width of a letter and height of a line, in 11 px Helvetica


@dataclass(frozen=True)
class Spot:
    """One cell on the map; `series` is its method, `caption` stands beside it."""

    series: str
    caption: str
    x: float
    y: float
    front: bool = False
    refused: bool = False


@dataclass(frozen=True)
class _Axis:
    """From numbers to pixels, and where the ticks are."""

    ticks: tuple[float, ...]
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def draw(spots: Sequence[Spot], *, x_title: str, y_title: str) -> str:
    """Risk (up) against loss (right), the Pareto front as a line, refused cells hollow."""
    x = _Axis(nice_ticks([spot.x for spot in spots]), LEFT, WIDTH - RIGHT)
    y = _Axis(nice_ticks([spot.y for spot in spots]), HEIGHT - BOTTOM, TOP)
    series = tuple(dict.fromkeys(spot.series for spot in spots))
    body = [
        *_grid(x, y, x_title, y_title),
        *_front(spots, x, y),
        *(_mark(spot, series.index(spot.series), x, y) for spot in spots),
        *_captions(spots, series, x, y),
        *_legend(series, any(spot.refused for spot in spots)),
    ]
    if not spots:
        middle = ((LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2)
        body.append(_words(*middle, "no cell has both measures", anchor="middle"))
    return "\n".join([*_opening(x_title, y_title), *body, "</svg>"]) + "\n"


def nice_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Round numbers from zero (or below) to above the highest value, four to nine of them."""
    low, high = min([0.0, *values]), max([0.0, *values])
    high = high if high > low else low + 1.0
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * (1 - 1e-9))
    first = math.floor(low / step)
    last = math.floor(high / step) + 1  # never on the frame itself
    return tuple(i * step for i in range(first, last + 1))


def _opening(x_title: str, y_title: str) -> list[str]:
    described = f"{escape(y_title)} against {escape(x_title)}, lower is better on both"
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" '
        'font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f"<title>Risk against loss</title><desc>{described}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]


def _grid(x: _Axis, y: _Axis, x_title: str, y_title: str) -> list[str]:
    drawn = []
    for tick in x.ticks:
        at = x.at(tick)
        drawn.append(_line(at, TOP, at, HEIGHT - BOTTOM, "#e6e6e6"))
        drawn.append(_words(at, HEIGHT - BOTTOM + 18, f"{tick:.4g}", anchor="middle"))
    for tick in y.ticks:
        at = y.at(tick)
        drawn.append(_line(LEFT, at, WIDTH - RIGHT, at, "#e6e6e6"))
        drawn.append(_words(LEFT - 8, at + 4, f"{tick:.4g}", anchor="end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [
        *drawn,
        _line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "#444444"),
        _line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, "#444444"),
        _words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, x_title, anchor="middle", size=13),
        f'<g transform="translate(22,{middle}) rotate(-90)">'
        + _words(0, 0, y_title, anchor="middle", size=13)
        + "</g>",
    ]


def _front(spots: Sequence[Spot], x: _Axis, y: _Axis) -> list[str]:
    best = sorted({(spot.x, spot.y) for spot in spots if spot.front})
    if len(best) < 2:
        return []
    points = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in best)
    return [
        f'<polyline class="front" points="{points}" fill="none" stroke="#444444" '
        'stroke-width="1.5" stroke-dasharray="6 4"/>'
    ]


def _mark(spot: Spot, series: int, x: _Axis, y: _Axis) -> str:
    told = f"{spot.caption} {spot.series}: {spot.x:.4g}, {spot.y:.4g}"
    told += " (refused by a gate)" if spot.refused else ""
    place = f"translate({x.at(spot.x):.1f},{y.at(spot.y):.1f})"
    return (
        f'<g class="cell" transform="{place}"><title>{escape(told)}</title>'
        f"{_shape(series, hollow=spot.refused)}</g>"
    )


def _shape(series: int, *, hollow: bool = False) -> str:
    colour = _COLOURS[series % len(_COLOURS)]
    fill = "#ffffff" if hollow else colour
    path = _MARKS[series % len(_MARKS)]
    return f'<path d="{path}" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _captions(spots: Sequence[Spot], series: Sequence[str], x: _Axis, y: _Axis) -> list[str]:
    """Beside each mark where there is room; the front first. All have a tooltip anyway."""
    marks = [(x.at(spot.x), y.at(spot.y)) for spot in spots]
    taken = [(a - 6, b - 6, a + 6, b + 6) for a, b in marks]
    drawn = []
    for spot, (a, b) in sorted(zip(spots, marks, strict=True), key=lambda pair: not pair[0].front):
        width = _LETTER * len(spot.caption)
        places = (
            (a + 9, b + 4),
            (a - 9 - width, b + 4),
            (a - width / 2, b - 10),
            (a - width / 2, b + 19),
        )
        for left, base in places:
            box = (left, base - _LINE + 3, left + width, base + 3)
            inside = left > LEFT and box[2] < WIDTH - RIGHT and box[1] > TOP - _LINE
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                ink = _INKS[series.index(spot.series) % len(_INKS)]
                drawn.append(_words(left, base, spot.caption, ink=ink))
                break
    return drawn


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _legend(series: Sequence[str], refused: bool) -> list[str]:
    drawn, at = [], float(LEFT)
    for i, name in enumerate(series):
        drawn.append(f'<g transform="translate({at + 6:.1f},28)">{_shape(i)}</g>')
        drawn.append(_words(at + 18, 32, name))
        at += 40 + _LETTER * len(name)
    drawn.append(_line(at, 28, at + 26, 28, "#444444", dashed=True))
    drawn.append(_words(at + 32, 32, "Pareto front"))
    if refused:
        drawn.append(_words(at + 124, 32, "hollow: refused by a gate"))
    return drawn


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dashed: bool = False) -> str:
    dashes = ' stroke-width="1.5" stroke-dasharray="6 4"' if dashed else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}"{dashes}/>'


def _words(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 11, ink: str = "#222222"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{ink}">{escape(text)}</text>'
    )
