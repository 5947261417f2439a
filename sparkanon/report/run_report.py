"""What report.json holds, whichever command wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

REPORT_VERSION = 1  # what `report_version` in report.json must say


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """Numbers of one run: no cell, nothing about the seed or the input's rows.

    `parts` are those of the sections, by their keys.
    """

    command: str
    run_id: str
    status: str
    policy: Mapping[str, Any]
    policy_hash: str
    k: int | None
    rows_in: int | None = None
    rows_out: int | None = None
    promise: Mapping[str, Any] | None = None
    measures: Sequence[Mapping[str, Any]] = ()
    gates: Sequence[Mapping[str, Any]] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON types; those that are unknown are left out."""
        own = {
            "report_version": REPORT_VERSION,
            "command": self.command,
            "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "run_id": self.run_id,
            "status": self.status,
            "policy": dict(self.policy),
            "policy_hash": self.policy_hash,
            "k": self.k,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "promise": self.promise,
            "measures": [dict(one) for one in self.measures],
            "gates": [dict(one) for one in self.gates],
            "left_out": [
                {"measure": name, "why": why} for name, why in sorted(self.left_out.items())
            ],
            "seconds": dict(self.seconds),
            "versions": dict(self.versions),
        }
        return {key: part for key, part in own.items() if part is not None} | dict(self.parts)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
