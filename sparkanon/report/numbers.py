"""Numbers as a person reads them: few digits, a unit, separators."""

from __future__ import annotations

import math
from typing import Any

from sparkanon.report.glossary import Unit

MISSING = "not measured"
_NBSP = "\u00a0"  # a unit must not be torn from its number
_MINUS = "\u2212"


def finite(value: Any) -> float | None:
    """The number, or None for what is none (also NaN and infinities, which JSON has not)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def plain(value: float) -> str:
    """Three significant digits, all digits of large numbers."""
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1e12 or size < 1e-4:
        text = f"{value:.2e}"
    elif size >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", _MINUS)


def percent(value: float) -> str:
    """A percentage with two digits below ten and one above."""
    size = abs(value)
    if value != 0 and size < 0.01:
        text = f"{value:.1g}" if size >= 1e-6 else f"{value:.0e}"
        text = f"{float(text):.10f}".rstrip("0") if size >= 1e-6 else text
    else:
        text = f"{value:.2f}" if size < 10 else f"{value:,.1f}"
        text = text.rstrip("0").rstrip(".")
    return f"{text.replace('-', _MINUS)}{_NBSP}%"


def shown_number(value: float | None, unit: Unit) -> str:
    if value is None:
        return MISSING
    if unit == "percent":
        return percent(value)
    return percent(100 * value) if unit == "share" else plain(value)


def seconds(value: float) -> str:
    if value >= 120:
        return f"{value / 60:,.1f}{_NBSP}min"
    return f"{value:.1f}{_NBSP}s"
