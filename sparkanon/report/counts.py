"""Counts that may be shown: never one of 1 to k - 1, and nothing it could be computed from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sparkanon.report.numbers import finite

Part = Mapping[str, Any]
_COUNT = re.compile(r"(?<![\w.,])\d[\d,]*(?!\w|\.\d)")


def fewer(k: int) -> str:
    return f"fewer than {k:,}"


def hidden(n: float | None, k: int) -> bool:
    """Whether this count is about at least one and fewer than k records."""
    return n is not None and 0 < n < k


def shown_count(n: float | None, k: int) -> str:
    """A count for a reader: never one of 1 to k - 1."""
    if n is None:
        return "not counted"
    return fewer(k) if hidden(n, k) else f"{n:,.0f}"


def coded_count(n: Any, k: int) -> int | str | None:
    """A count for embedded JSON: the number if it may be shown, otherwise words that say so."""
    number = finite(n)
    if number is None:
        return None
    return fewer(k) if hidden(number, k) else int(number)


def without_counts(text: str, k: int) -> str:
    """A message in which every count of 1 to k - 1 is replaced by words that say so."""

    def shown(count: re.Match[str]) -> str:
        return fewer(k) if hidden(float(count[0].replace(",", "")), k) else count[0]

    return _COUNT.sub(shown, text)


def class_sizes(sizes: Part, k: int) -> dict[str, Any]:
    """The histogram with one bar for sizes under k; other bars are merged to k classes or more."""
    cells = [
        {key: int(cell[key]) for key in ("low", "high", "classes", "records")}
        for cell in sizes.get("histogram") or ()
    ]
    below = _merged([cell for cell in cells if cell["low"] < k])
    above = _merged_until([cell for cell in cells if cell["low"] >= k], k)
    shown: list[dict[str, Any]] = [dict(cell) for cell in above]
    records = finite(sizes.get("records"))
    if below is not None:
        below["low"], below["high"] = 1, max(k - 1, below["high"])
        shown.insert(0, dict(below))
        small = hidden(below["classes"], k) or hidden(below["records"], k)
        if small and len(shown) > 1:
            # the small cell could be computed as the total minus all others: withhold one more
            min(shown[1:], key=lambda cell: int(cell["classes"]))["withheld"] = True
    for cell in shown:
        if hidden(cell["classes"], k) or hidden(cell["records"], k):
            cell |= {"classes": fewer(k), "records": fewer(k), "share": None}
        elif cell.pop("withheld", False):
            cell |= {"classes": "withheld", "records": "withheld", "share": None}
        else:
            cell["share"] = cell["records"] / records if records else None
        cell["below"] = cell["low"] < k
    counts = {key: coded_count(sizes.get(key), k) for key in ("classes", "records")}
    return counts | {"smallest": coded_count(sizes.get("smallest"), k), "histogram": shown}


def _merged(cells: Sequence[dict[str, int]]) -> dict[str, int] | None:
    if not cells:
        return None
    return {
        "low": min(cell["low"] for cell in cells),
        "high": max(cell["high"] for cell in cells),
        "classes": sum(cell["classes"] for cell in cells),
        "records": sum(cell["records"] for cell in cells),
    }


def _merged_until(cells: Iterable[dict[str, int]], k: int) -> list[dict[str, int]]:
    """Merge neighbouring bars until each has k classes; a rest with fewer joins the last one."""
    done: list[dict[str, int]] = []
    open_: list[dict[str, int]] = []
    for cell in sorted(cells, key=lambda cell: cell["low"]):
        open_.append(cell)
        whole = _merged(open_)
        if whole is not None and whole["classes"] >= k:
            done.append(whole)
            open_ = []
    rest = _merged(done[-1:] + open_) if open_ else None
    return done if rest is None else [*done[:-1], rest]


def shares_of_bins(shares: Iterable[Any], k: int, rows: float | None) -> list[float | None]:
    """Withhold bins of fewer than k records, and more until nobody can compute those."""
    shown = [finite(share) for share in shares]
    if rows:
        shown = [s if s is None or not 0 < round(s * rows, 6) < k else None for s in shown]
    while _computable(shown, k, rows):
        rest = [i for i, share in enumerate(shown) if share]
        if not rest:
            break
        shown[min(rest, key=lambda i: shown[i] or 0.0)] = None
    return shown


def _computable(shown: Sequence[float | None], k: int, rows: float | None) -> bool:
    """Whether the withheld shares can be computed: all shares add up to one."""
    withheld = 1.0 - sum(share for share in shown if share is not None)
    alone = shown.count(None) == 1
    return alone or (None in shown and rows is not None and round(withheld * rows, 6) < k)
