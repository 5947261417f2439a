"""Where a run writes: what is there is looked at, and taken, before any work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from pyspark.sql import SparkSession

from sparkanon.engine.pairs.pairing import keep, place_for, put_together
from sparkanon.engine.publish.publish import check_apart, staging_for
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.stores.folders import check_writable
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import InputError, Problem
from sparkanon.policy import Policy


@dataclass(frozen=True)
class Places:
    """Two private folders, and the one of runs; None where the policy has no such place."""

    release: Staging
    pairing: Staging | None
    runs: Place | None
    by_store: list[str]  # places whose store has no modes, by their paths in the policy

    def pairs(self, wanted: bool) -> Place | None:
        """Where the blocks put their pairs, if anybody wants them."""
        return self.release.path / "pairs" if wanted or self.pairing is not None else None

    def held(self) -> AbstractContextManager[object]:
        """Hold the folder of the pairing, if there is one, while this context lasts."""
        return self.pairing or nullcontext()

    def put_together(self, spark: SparkSession, pairs: Place | None) -> None:
        """Put the pairing together before the release is out: all of it that can fail."""
        if self.pairing is not None and pairs is not None:
            put_together(spark, pairs, self.pairing)

    def keep_pairing(self, spark: SparkSession) -> None:
        """Move the pairing to its place, once the release is out."""
        if self.pairing is not None:
            keep(spark, self.pairing)


@contextmanager
def places_for(spark: SparkSession, policy: Policy, *, dry_run: bool) -> Iterator[Places]:
    """The places of a run, before any work; while this lasts, no other run publishes there.

    What a dead run left is mended first, and a place that cannot be written is refused.
    """
    sink, private, runs = policy.output, policy.private, None
    used = {path: place for path, place in policy.private_places.items() if sink or path != "runs"}
    named = {path: locate(spark, place, path) for path, place in used.items()}
    staging = staging_for(spark, sink, named.get("output.staging"), dry_run=dry_run)
    pairing = None if private is None else place_for(named["private.path"], dry_run=dry_run)
    if sink is not None:
        runs = named["runs"]
        check_writable(runs, "runs")
        if sink.format == "table":
            check_apart(spark, sink.place, named)
        else:
            _check_not_inside(staging.output, named)
            if policy.input is not None and policy.input.path is not None:
                _check_other(staging.output, locate(spark, policy.input.path, "input.path"))
    if "audit.table.path" in named:
        check_writable(named["audit.table.path"], "audit.table.path")
    with ExitStack() as held:
        if sink is not None:
            beside = {"table": runs, "delta": staging.folder}.get(sink.format)
            held.enter_context(staging.alone(beside))
        if pairing is not None:
            held.enter_context(pairing.alone())
        by_store = [path for path, place in named.items() if not place.has_folders]
        yield Places(staging, pairing, runs, by_store)


def _check_not_inside(output: Place, private: Mapping[str, Place]) -> None:
    """The same as the policy's own check, once it is known which places are one."""
    problems = [
        Problem(where, "lies inside the output, which is replaced as a whole and is public")
        for where, place in private.items()
        if place.is_inside(output)
    ]
    if problems:
        raise InputError(problems)


def _check_other(output: Place, source: Place) -> None:
    if source.is_inside(output) or output.is_inside(source):
        text = "is the input, or lies inside it, or holds it"
        raise InputError(Problem("output.path", text))
