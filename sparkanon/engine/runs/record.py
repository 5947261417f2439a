"""What is kept of a run that publishes: its manifest, its report and its measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from sparkanon.engine.runs.measures_table import append
from sparkanon.engine.stores.place import Place
from sparkanon.errors import SparkanonError
from sparkanon.measures import Measure
from sparkanon.policy import Policy
from sparkanon.report.run_report import RunReport

# What of the manifest the report shows; nothing about the seed, and no hash of the input's rows.
_REPORTED = (
    "run_id", "status", "policy", "policy_hash", "k", "rows_in", "rows_out", "promise",
    "measures", "gates", "seconds", "versions",
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    """The record of one run; `manifest` says how it stood when the release had been measured."""

    spark: SparkSession
    policy: Policy
    runs: Place | None  # the folder of runs; None where nothing is published
    manifest: Mapping[str, Any]
    parts: Mapping[str, Any]  # of the report
    left_out: Mapping[str, str]

    def begin(self, status: str) -> Place | None:
        """Write manifest and report into the folder of runs, and measures into their table."""
        path = self._write(self.runs, status) if self.runs is not None else None
        if self.policy.audit.table is not None:
            measures = [Measure(**measure) for measure in self.manifest["measures"]]
            run_id = str(self.manifest["run_id"])
            append(self.spark, self.policy.audit.table, run_id, datetime.now(UTC), measures)
        return path

    def end(self, status: str) -> None:
        """How a run ended that was about to publish."""
        if self.runs is None:
            return
        try:
            self._write(self.runs, status)
        except SparkanonError as error:
            text = f"the release is {status}, which its manifest does not say: {error}"
            raise SparkanonError(text) from None

    def _write(self, runs: Place, status: str) -> Place:
        manifest = dict(self.manifest) | {"status": status}
        path = runs / str(manifest["run_id"]) / "manifest.json"
        report = RunReport(
            command="anonymize",
            left_out=self.left_out,
            parts=self.parts,
            **{name: manifest[name] for name in _REPORTED},
        )
        try:
            path.replace_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
            path.with_name("report.json").replace_text(report.to_json())
        except OSError as error:
            text = f"the manifest {path} cannot be written: {error.strerror}"
            raise SparkanonError(text) from None
        return path
