"""The risk-utility map of a sweep, as one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sparkanon.report.charts import SERIES, frame, front_line, symbol
from sparkanon.report.svg import Axis, image, line, rect, tag, text

WIDTH, HEIGHT, TOP = 860.0, 560.0, 70.0
LEGEND = 36.0  # height of the middle of its marks
# Okabe and Ito's colours without yellow, which is invisible on white; the shapes of the marks
# differ as well. Beside each colour a darker version, which can be read as text.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INKS = ("#005A8D", "#A84A00", "#00745A", "#96467A", "#855C00", "#23709C")
_STYLE = (
    "text{font:11px Helvetica,Arial,sans-serif;fill:#222}.axis-title{font-size:13px}"
    ".paper{fill:#fff}.grid{stroke:#e6e6e6}.base{stroke:#444}.symbol{stroke-width:1.5}"
    ".front{fill:none;stroke:#444;stroke-width:1.5;stroke-dasharray:6 4}"
    + "".join(f".s{i}{{fill:{c};stroke:{c}}}" for i, c in enumerate(_COLOURS))
    + "".join(f".caption.s{i}{{fill:{ink};stroke:none}}" for i, ink in enumerate(_INKS))
    + ".hollow .symbol{fill:#fff}"
)
_LETTER, _LINE = 6.3, 14  # width of a letter and height of a line, in 11 px Helvetica
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Spot:
    """One cell on the map; `series` is its method, `caption` stands beside it."""

    series: str
    caption: str
    x: float
    y: float
    front: bool = False
    refused: bool = False


def draw(spots: Sequence[Spot], *, x_title: str, y_title: str) -> str:
    """Risk (up) against loss (right), the Pareto front as a line, refused cells hollow."""
    places = [(spot.x, spot.y) for spot in spots]
    size, formats = (WIDTH, HEIGHT), (_short, _short)
    x, y, body = frame(places, formats, (x_title, y_title), size, TOP)
    series = tuple(dict.fromkeys(spot.series for spot in spots))
    body += front_line([(spot.x, spot.y) for spot in spots if spot.front], x, y)
    body += [_mark(spot, series.index(spot.series), x, y) for spot in spots]
    body += _captions(spots, series, x, y)
    body += _legend(series, any(spot.refused for spot in spots))
    if not spots:
        middle = (x.start + x.end) / 2, (y.start + y.end) / 2
        body.append(text(*middle, "no cell has both measures", "middle"))
    label = f"{y_title} against {x_title}, lower is better on both"
    ground = rect(0, 0, WIDTH, HEIGHT, "paper")
    style = tag("style", Markup(_STYLE))  # noqa: S704  ours, not a word of the run in it
    own = "http://www.w3.org/2000/svg"
    return str(image(WIDTH, HEIGHT, label, style, ground, *body, xmlns=own)) + "\n"


def _short(value: float) -> str:
    return f"{value:.4g}"


def _mark(spot: Spot, series: int, x: Axis, y: Axis) -> Markup:
    hover = f"{spot.caption} {spot.series}: {_short(spot.x)}, {_short(spot.y)}"
    hover += " (refused by a gate)" if spot.refused else ""
    style = "cell hollow" if spot.refused else "cell"
    return tag("g", tag("title", hover), symbol(series, x(spot.x), y(spot.y), 5.0), class_=style)


def _captions(spots: Sequence[Spot], series: Sequence[str], x: Axis, y: Axis) -> list[Markup]:
    """Captions beside the marks where there is room, the front first. All marks have a tooltip."""
    marks = [(x(spot.x), y(spot.y)) for spot in spots]
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
            inside = left > x.start and box[2] < WIDTH and box[1] > TOP - _LINE
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                style = f"caption s{series.index(spot.series) % SERIES}"
                drawn.append(text(left, base, spot.caption, class_=style))
                break
    return drawn


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _legend(series: Sequence[str], refused: bool) -> list[Markup]:
    drawn, at = [], 60.0
    for i, name in enumerate(series):
        drawn += [symbol(i, at, LEGEND, 5.0), text(at + 12, LEGEND + 4, name)]
        at += 34 + _LETTER * len(name)
    drawn.append(line(at, LEGEND, at + 26, LEGEND, "front"))
    drawn.append(text(at + 32, LEGEND + 4, "Pareto front"))
    if refused:
        drawn.append(text(at + 124, LEGEND + 4, "hollow: refused by a gate"))
    return drawn
