"""SVG elements as escaped text; colours come from classes, so light, dark and print differ.

All charts are made of these: those of the page, and the map that a sweep writes as a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

Format = Callable[[float], str]


def tag(kind: str, *body: Any, **attributes: Any) -> Markup:
    """One element. `class_` is class, `stroke_width` is stroke-width; all values are escaped."""
    parts = [Markup("<{}").format(kind)]
    for key, value in attributes.items():
        if value is None:
            continue
        text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
        parts.append(Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), text))
    parts.append(Markup(">"))
    return Markup("").join(
        [*parts, *(escape(part) for part in body), Markup("</{}>").format(kind)]
    )


def image(
    width: float, height: float, label: str, *body: Any, role: str = "img", **more: Any
) -> Markup:
    """A chart; `label` is what a screen reader says instead."""
    return tag(
        "svg",
        tag("title", label),
        *body,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role=role,
        aria_label=label,
        **more,
    )


def text(x: float, y: float, words: str, anchor: str = "start", **more: Any) -> Markup:
    return tag("text", words, x=float(x), y=float(y), text_anchor=anchor, **more)


def line(x1: float, y1: float, x2: float, y2: float, class_: str, *body: Any) -> Markup:
    return tag(
        "line", *body, x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_
    )


def rect(x: float, y: float, width: float, height: float, class_: str, *body: Any) -> Markup:
    return tag(
        "rect",
        *body,
        x=float(x),
        y=float(y),
        width=float(max(width, 0.0)),
        height=float(max(height, 0.0)),
        class_=class_,
    )


def short(words: str, length: int) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"


@dataclass(frozen=True)
class Axis:
    """Maps values to pixels, with ticks at round values."""

    first: float
    last: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        share = (value - self.first) / (self.last - self.first)
        return self.start + share * (self.end - self.start)


def axis(values: Sequence[float], start: float, end: float, *, zero: bool = True) -> Axis:
    """An axis from 0 (or the lowest value) to a round value above the highest."""
    low = 0.0 if zero else min(values, default=0.0)
    low = min(low, *values) if values else low
    high = max((*values, low))
    if high <= low:
        high = low + (abs(low) or 1.0)
    step = _round_step((high - low) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(step * i for i in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def _round_step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return float(next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough * (1 - 1e-9)))
