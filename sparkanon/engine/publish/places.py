"""Where the release of a run and its pairing wait until they are published."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from sparkanon.engine.pairs.pairing import keep, place_for, put_together
from sparkanon.engine.publish.publish import check_apart, staging_for
from sparkanon.engine.stores.folders import check_writable_folder, is_local
from sparkanon.engine.stores.owned import scratch
from sparkanon.engine.stores.staging import Staging
from sparkanon.policy import Policy


@dataclass(frozen=True)
class Places:
    """Two private folders; `pairing` is None where the policy keeps none."""

    release: Staging
    pairing: Staging | None

    def pairs(self, wanted: bool) -> Path | None:
        """Where the blocks put their pairs, if anybody wants them."""
        return self.release.path / "pairs" if wanted or self.pairing is not None else None

    def held(self) -> AbstractContextManager[object]:
        """Hold the folder of the pairing, if there is one, while this context lasts."""
        return self.pairing or nullcontext()

    def put_together(self, pairs: Path | None) -> None:
        """Put the pairing together before the release is out: all of it that can fail."""
        if self.pairing is not None and pairs is not None:
            put_together(pairs, self.pairing)

    def keep_pairing(self) -> None:
        """Move the pairing to its place, once the release is out."""
        if self.pairing is not None:
            keep(self.pairing)


def places_for(spark: SparkSession, policy: Policy, *, dry_run: bool) -> Places:
    """The places of a run, before any work.

    What a dead run left is mended first, and a place that cannot be written is refused.
    """
    staging = staging_for(spark, policy.output, scratch(), dry_run=dry_run)
    private = policy.private
    pairing = None if private is None else place_for(private.path, dry_run=dry_run)
    if policy.output is not None:
        check_writable_folder(policy.runs, "runs")
        check_apart(spark, policy.output, policy.private_places)
    table = policy.audit.table
    if table is not None and is_local(table.path):
        check_writable_folder(table.path, "audit.table.path")
    return Places(staging, pairing)
