"""Named results: what every measure returns, in gates, tables, JSON and report alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """One number. `column` is None for the whole table; `low`/`high` are None where exact."""

    measure: str
    value: float | None
    column: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


# The measures a gate can name, with what they say; a gate is `min_` or `max_` and one of these.
CATALOGUE: Mapping[str, str] = {
    "k": "smallest number of records that share a published combination, or a group drawn from",
    "min_class_size": "the same as k",
    "il": "information loss, 100 * SSE / SST on z-scored columns (SURVEY 2.2, formula 4)",
    "sse": "sum of squared differences between original and published z-scores",
    "sst": "sum of squared z-scores of the original",
}
