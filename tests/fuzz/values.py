"""The published values of a class, against the originals of its records."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from leaks import demand
from policies import Plan
from random_tables import Quasi

Classes = Sequence[Sequence[int]]


def check_centres(
    quasi: Quasi,
    arrow: pa.DataType,
    originals: list[Any],
    shown: list[Any],
    classes: Classes,
    *,
    weighted: bool,
) -> None:
    """Mean, lower median or mode of the class; null where half of it is.

    A class is a union of groups with one centre, so it has the same centre itself.
    """
    for members in classes:
        mine = [originals[i] for i in members]
        present = [cell for cell in mine if cell is not None]
        centre = shown[members[0]]
        demand(not _is_nan(centre), f"'{quasi.kind}' has a NaN for a centre")
        if weighted:
            demand(centre is None or _within(quasi, present, centre), "a centre lies outside")
            continue
        half = 2 * (len(mine) - len(present)) >= len(mine)
        demand((centre is None) == half, f"a centre of '{quasi.kind}' is null, or should be")
        if centre is None:
            continue
        if quasi.scale == "nominal":
            counts = Counter(present)
            demand(counts[centre] == max(counts.values()), "a centre is not the most frequent")
        elif quasi.scale == "ordinal":
            ranked = sorted(present, key=lambda cell: _rank(quasi, cell))
            demand(centre == ranked[(len(ranked) - 1) // 2], "a centre is not the lower median")
        elif pa.types.is_boolean(arrow) and not quasi.as_double:
            demand(abs(2 * sum(present) - len(present)) <= len(present), "no share")
            most = 2 * sum(present) - len(present)
            demand(most == 0 or centre == (most > 0), "a centre is not the majority")
        else:
            _check_mean(quasi, arrow, present, centre)


def _check_mean(quasi: Quasi, arrow: pa.DataType, present: list[Any], centre: Any) -> None:
    mean = sum(map(Fraction, present)) / len(present)
    size = max(abs(Fraction(cell)) for cell in present)
    near = size * Fraction(1, 10**9 if not pa.types.is_float32(arrow) else 10**5)
    if pa.types.is_floating(arrow) or quasi.as_double:
        step = Fraction(0)
    elif pa.types.is_decimal(arrow):
        step = Fraction(51, 10**4)
    else:
        step = Fraction(1, 2)
    demand(
        abs(Fraction(centre) - mean) <= step + near, f"a centre of '{quasi.kind}' is not the mean"
    )


def _within(quasi: Quasi, present: list[Any], centre: Any) -> bool:
    if quasi.scale == "nominal":
        return centre in present
    ranks = [_rank(quasi, cell) for cell in present]
    if quasi.scale == "ordinal":
        return _rank(quasi, centre) in ranks
    near = max(map(abs, ranks)) * 1e-6 + 0.5
    return bool(present) and min(ranks) - near <= _rank(quasi, centre) <= max(ranks) + near


def _rank(quasi: Quasi, cell: Any) -> Any:
    return quasi.steps.index(cell) if quasi.steps is not None else float(cell)


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)


def check_limits(plan: Plan, quasi: Quasi, originals: list[Any], shown: list[Any]) -> None:
    """Top and bottom coding: all values but those beyond the limits, as often as before."""
    release = plan.policy["method"]["release"]
    present = sorted((cell for cell in originals if cell is not None), key=_order_of(quasi))
    demand(len(present) == sum(cell is not None for cell in shown), "nulls come or go")
    if quasi.name in release["limits"]:
        ends = release["limits"][quasi.name]
        wanted = [min(max(cell, ends["low"]), ends["high"]) for cell in present]
    else:
        at = math.ceil(release["share"] * len(present)) - 1
        low, high = present[at], present[len(present) - 1 - at]
        inner = present[at + 1 : len(present) - 1 - at]
        wanted = [low] * (at + 1) + inner + [high] * (at + 1)
    found = sorted((cell for cell in shown if cell is not None), key=_order_of(quasi))
    # a double does not hold all digits of every bigint, and of no timestamp far away
    same = all(
        a == b or (abs(a) > 2**53 and abs(a - b) <= 2**-50 * abs(a))
        for a, b in zip(wanted, found, strict=True)
    )
    demand(same, f"'{quasi.kind}' is not cut at its limits")


def _order_of(quasi: Quasi) -> Callable[[Any], Any]:
    return quasi.steps.index if quasi.steps is not None else lambda cell: cell


def check_spans(
    plan: Plan,
    quasi: Quasi,
    arrow: pa.DataType,
    originals: list[Any],
    shown: list[Any],
    classes: Classes,
) -> None:
    """The text of a class says exactly what its records hold: no less, and no more."""
    release = plan.policy["method"]["release"]
    trees = release.get("taxonomies", {}) if isinstance(release, dict) else {}
    for members in classes:
        mine = [originals[i] for i in members]
        present = [cell for cell in mine if cell is not None]
        text = shown[members[0]]
        if text is None:
            demand(not present, f"null stands for cells of '{quasi.kind}'")
            continue
        demand(bool(present), f"'{quasi.kind}' has text for nulls")
        if text == "*" and (len(present) < len(mine) or quasi.name in trees):
            continue
        if quasi.name in trees:
            below = _below(trees[quasi.name], text)
            demand(set(present) <= below, "a word does not cover a record")
            demand(len(present) == len(mine), "a word stands for a null")
            continue
        demand(len(present) == len(mine), f"a span of '{quasi.kind}' stands for a null")
        if quasi.steps is not None:
            ranks = [quasi.steps.index(cell) for cell in present]
            span = [str(one) for one in quasi.steps[min(ranks) : max(ranks) + 1]]
            demand(text == _set(span), "a set of steps is not that of its records")
        elif quasi.scale == "nominal" or pa.types.is_boolean(arrow):
            _check_set(arrow, text, present)
        else:
            ends = text[1:-1].split(", ") if text.startswith("[") else [text, text]
            low, high = (_read(arrow, end) for end in ends)
            demand((low, high) == (min(present), max(present)), f"a range of '{quasi.kind}'")


def _set(names: list[str]) -> str:
    return names[0] if len(names) == 1 else "{" + ",".join(names) + "}"


def _check_set(arrow: pa.DataType, text: str, present: list[Any]) -> None:
    """Every member stands in the set, and nothing else; a category may hold a comma itself."""
    different = set(present)
    if pa.types.is_string(arrow):
        if len(different) == 1:
            demand(text == present[0], "a single category has another text")
            return
        inner = text[1:-1]
        demand(all(f",{one}," in f",{inner}," for one in different), "a set misses a record")
        length = sum(map(len, different)) + len(different) - 1
        demand(len(inner) == length, "a set holds more than its records")
        return
    ends = text[1:-1].split(",") if text.startswith("{") else [text]
    demand({_read(arrow, one) for one in ends} == different, "a set is not that of its records")


def _below(tree: Any, text: str) -> set[Any]:
    """The values below a word, or the value itself."""
    if isinstance(tree, list):
        return {text} & set(tree)
    found: set[Any] = set()
    for word, inner in tree.items():
        found |= _leaves(inner) if word == text else _below(inner, text)
    return found


def _leaves(tree: Any) -> set[Any]:
    if isinstance(tree, list):
        return set(tree)
    return set().union(*(_leaves(inner) for inner in tree.values()))


def _read(arrow: pa.DataType, text: str) -> Any:
    """A published text as the comparable cell that it stands for."""
    if pa.types.is_boolean(arrow):
        return {"true": True, "false": False}[text]
    if pa.types.is_integer(arrow):
        return int(text)
    if pa.types.is_float32(arrow):
        return float(np.float32(text))
    if pa.types.is_floating(arrow):
        return float(text) + 0.0
    if pa.types.is_decimal(arrow):
        return Decimal(text)
    if pa.types.is_date(arrow):
        return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days
    moment = dt.datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
