"""From a policy to a verified release: the flow, one line a step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from sparkanon.atomic import write_atomically
from sparkanon.engine.audit.measure import Measured, asked_by_anonymize, measure, searches
from sparkanon.engine.cut.cuttings import cut
from sparkanon.engine.fit.facts import Facts, gather, with_key
from sparkanon.engine.mask.stage import Staged, stage, staged_schema
from sparkanon.engine.pairs.pairing import keep, place_for, put_together
from sparkanon.engine.pairs.pairs import Sides, own_release
from sparkanon.engine.publish.publish import check_apart, publish, staging_for
from sparkanon.engine.runs.gates import Gate, check_gates
from sparkanon.engine.runs.ids import new_run_id
from sparkanon.engine.runs.manifest import for_readers, make_manifest
from sparkanon.engine.runs.measures_table import append
from sparkanon.engine.runs.steps import Steps, Watcher
from sparkanon.engine.session.session import session_of
from sparkanon.engine.sql.hidden import HiddenViews, hidden_views
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.stores.folders import (
    check_writable_folder,
    is_local,
    local_path,
)
from sparkanon.engine.stores.owned import scratch
from sparkanon.engine.stores.staging import Staging
from sparkanon.engine.table import tables
from sparkanon.engine.table.columns import Columns, plain, resolve
from sparkanon.engine.verify.constraints import check
from sparkanon.engine.verify.verify import classes_of, verify
from sparkanon.errors import GateError, InputError, Problem, SparkanonError, counted
from sparkanon.measures import Given, Measure, loss
from sparkanon.measures.anonymity import Sizes
from sparkanon.measures.loss import SquaredErrors
from sparkanon.needs import Known
from sparkanon.policy import Policy, Role, check_policy, make_policy, read_seed
from sparkanon.policy.checks import release_problems
from sparkanon.promises import Promise
from sparkanon.report.run import RunReport
from sparkanon.rng import Seed

# The parts of the manifest that the report shows: nothing about the seed or the rows' hashes.
_REPORTED = (
    "run_id", "status", "policy", "policy_hash", "k", "rows_in", "rows_out", "promise",
    "measures", "gates", "seconds", "versions",
)  # fmt: skip


@dataclass(frozen=True)
class Release:
    """A verified release. `data` is None when nothing was to be published (`dry_run`)."""

    status: str  # published, dry_run, refused
    data: DataFrame | None
    manifest: dict[str, Any]
    measures: tuple[Measure, ...]
    gates: tuple[Gate, ...]
    manifest_path: Path | None = None

    @property
    def run_id(self) -> str:
        return str(self.manifest["run_id"])


class RefusedError(GateError):
    """A gate was not passed; carries what was measured, for whoever wants to see it."""

    def __init__(self, release: Release) -> None:
        self.release = release
        failed = [gate for gate in release.gates if not gate.passed]
        super().__init__([Problem(f"gates.{gate.gate}", gate.failure) for gate in failed])


@dataclass(frozen=True)
class _Run:
    """What all steps of a run share."""

    spark: SparkSession
    policy: Policy
    seed: Seed
    run_id: str
    steps: Steps
    views: HiddenViews

    @property
    def promise(self) -> Promise:
        return self.policy.promise


def anonymize(
    df: DataFrame | None,
    policy: Policy | Mapping[str, Any],
    *,
    dry_run: bool = False,
    watcher: Watcher | None = None,
    run_id: str | None = None,
    spark: SparkSession | None = None,
) -> Release:
    """Publish an anonymized version of a table, verified before anyone can read it.

    Parameters
    ----------
    df : the table; None reads the policy's `input`
    policy : a Policy, or a mapping of the YAML's shape. Without `output` the release is only
        returned, and its files live as long as this process.
    dry_run : do everything but publish

    Raises
    ------
    PolicyError, InputError : nothing was written
    GateError : the release was not safe or not useful enough; the old one still stands
    """
    policy = check_policy(policy) if isinstance(policy, Policy) else make_policy(policy)
    session, named = session_of(spark, df), run_id or new_run_id()
    seed = read_seed(policy.seed)
    try:
        with hidden_views(session) as views:
            run = _Run(session, policy, seed, named, Steps(watcher), views)
            return _anonymize(run, df, dry_run)
    except Exception as error:
        if tables.is_unreadable(error):
            raise tables.unreadable(policy.input) from None
        raise


def _anonymize(run: _Run, df: DataFrame | None, dry_run: bool) -> Release:
    policy, step = run.policy, run.steps.step
    with step("read"):
        staging, private = _places(run, dry_run)
        table = _read(run, df)
        data = plain(table.data)
        columns = resolve(policy, data.schema)
        _check_promise(policy, columns)
        if policy.output is not None:
            tables.check_writable(policy.output, columns.schema)
        keyed = with_key(data, columns)
    with step("fit"):
        facts = gather(keyed, columns, policy.k, policy.nulls, run.views)
        rows = counted(facts.rows, "row")
        run.steps.note(f"{rows}, {counted(len(facts.quasi), 'quasi-identifier')}")
    with step("cut"):
        cuttings = cut(keyed, facts, policy)
        run.steps.note(counted(cuttings.tree.blocks, "block"))
    with staging:
        given = Given(facts.statistics, policy.k)
        paired = policy.private is not None or searches(policy, given)
        pairs = staging.path / "pairs" if paired else None
        with step("mask"):
            blocks = stage(cuttings, facts, policy, run.seed, staging.table, pairs)
        with step("verify"):
            schema = staged_schema(columns, run.promise)
            staged = tables.read_staged(run.spark, str(staging.table), schema)
            sizes = verify(staged, run.promise, facts.rows, policy.few)
            kept = check(staged, cuttings.constraints, classes_of(run.promise))
            classes = counted(sizes.classes, "class", "classes")
            run.steps.note(f"{classes}, the smallest has {sizes.smallest:,} records")
        errors = loss.merge(block.errors for block in blocks.facts)
        known = Known({Sizes(): sizes, SquaredErrors(): errors})
        found = _measured(run, pairs, staged, facts, given, known)
        taken = {(m.measure, m.column) for m in found.measures}
        kept = [m for m in kept if (m.measure, m.column) not in taken]
        measures = (*found.measures, *kept)
        gates = check_gates(policy, measures)
        passed = all(gate.passed for gate in gates)
        manifest = make_manifest(
            run_id=run.run_id,
            status=("dry_run" if dry_run else "published") if passed else "refused",
            policy=policy,
            seed=run.seed,
            source={
                "version": table.version,
                "fingerprint": _fingerprint(run.seed, facts, blocks),
            },
            rows_in=facts.rows_in,
            blocks=blocks.blocks,
            fitted=cuttings.fitted,
            sizes=sizes,
            measures=measures,
            gates=gates,
            seconds=run.steps.seconds,
            spark_version=run.spark.version,
        )
        release = Release(manifest["status"], None, manifest, measures, gates)
        if not passed:
            path = None if dry_run else _record(run, manifest, found)
            raise RefusedError(replace(release, manifest_path=path))
        if dry_run:
            return release
        with step("publish"), private or nullcontext():
            # whatever can fail is done before the release is published
            if private is not None and pairs is not None:
                put_together(pairs, private)
            path = _record(run, manifest | {"status": "publishing"}, found)
            try:
                data = _publish(run, columns, staged, staging, manifest)
            except SparkanonError:
                with suppress(SparkanonError):
                    _record_end(run, manifest | {"status": "failed"}, found)
                raise
            if private is not None:
                keep(private)
    _record_end(run, manifest, found)
    return replace(release, data=data, manifest_path=path)


def _places(run: _Run, dry_run: bool) -> tuple[Staging, Staging | None]:
    """Where the release and its pairing wait until they are published.

    What a run that was killed left behind is cleared first, and a place that cannot be written is
    refused before any work.
    """
    policy, private = run.policy, None
    staging = staging_for(run.spark, policy.output, scratch(), dry_run=dry_run)
    if policy.private is not None:
        private = place_for(policy.private.path, dry_run=dry_run)
    if policy.output is not None:
        check_writable_folder(policy.runs, "runs")
        check_apart(run.spark, policy.output, policy.private_places)
    table = policy.audit.table
    if table is not None and is_local(table.path):
        check_writable_folder(table.path, "audit.table.path")
    return staging, private


def _check_promise(policy: Policy, columns: Columns) -> None:
    """Check the promise again, now that the table shows which columns `unlisted: keep` keeps."""
    problems = release_problems(policy, others=len(columns.released) > len(columns.quasi))
    if problems:
        raise InputError(problems)


def _measured(
    run: _Run,
    pairs: Path | None,
    staged: DataFrame,
    facts: Facts,
    given: Given,
    known: Known,
) -> Measured:
    """The same measures that an audit takes; what is known already is not counted again."""
    # without pairs, everything that is asked for is known, and neither table is read again
    pair = run.spark.read.parquet(str(pairs)) if pairs is not None else staged
    group = "g" if run.promise.numbered else None
    sensitive = run.policy.with_role(Role.SENSITIVE)
    compared, blocks = own_release(facts.quasi), run.promise.units
    sides = Sides(pair, pair, pair, compared, sensitive, group, blocks)
    return measure(sides, given, known, asked_by_anonymize(run.policy), run.policy, run.steps)


def _read(run: _Run, df: DataFrame | None) -> tables.Table:
    if df is not None:
        return tables.Table(df)
    if run.policy.input is None:
        raise InputError(Problem("input", "is required when no DataFrame is given"))
    return tables.read(run.spark, run.policy.input, run.policy)


def _fingerprint(seed: Seed, facts: Facts, staged: Staged) -> str:
    """A hash of the rows that take part in the release.

    It is keyed by the seed: otherwise whoever knows all rows but one could find the last by trial.
    """
    either = reduce(xor, (block.keys[0] for block in staged.facts))
    total = sum(block.keys[1] for block in staged.facts) % 2**64
    return seed.derive("fingerprint", f"{facts.rows_in}:{either}:{total}").hex()


def _publish(
    run: _Run, columns: Columns, staged: DataFrame, staging: Staging, manifest: dict[str, Any]
) -> DataFrame:
    sink = run.policy.output
    public = staged.selectExpr(*(quoted(field.name) for field in columns.released))
    if sink is None:
        folder = scratch() / run.run_id
        staging.table.rename(folder)
        return tables.read_staged(run.spark, str(folder), columns.schema)
    content = for_readers(manifest, columns.schema.names)
    publish(run.spark, public, staging, sink, content, private=run.promise.numbered)
    if sink.format == "table":
        return run.spark.table(sink.place)
    if sink.format == "delta":
        return run.spark.read.format("delta").load(sink.place)
    return tables.read_staged(run.spark, sink.place, columns.schema, sink)


def _record(run: _Run, manifest: dict[str, Any], found: Measured) -> Path | None:
    """Write manifest and report into the folder of runs, and measures into their table."""
    path = _written(run.policy, manifest, found) if run.policy.output is not None else None
    if run.policy.audit.table is not None:
        measures = [Measure(**measure) for measure in manifest["measures"]]
        append(run.spark, run.policy.audit.table, run.run_id, datetime.now(UTC), measures)
    return path


def _record_end(run: _Run, manifest: dict[str, Any], found: Measured) -> None:
    """Write the record again after publishing, now that it is known how the run ended."""
    if run.policy.output is None:
        return
    try:
        _written(run.policy, manifest, found)
    except SparkanonError as error:
        text = f"the release is {manifest['status']}, which its manifest does not say: {error}"
        raise SparkanonError(text) from None


def _written(policy: Policy, manifest: dict[str, Any], found: Measured) -> Path:
    path = local_path(policy.runs, "runs") / str(manifest["run_id"]) / "manifest.json"
    report = RunReport(
        command="anonymize",
        left_out=found.left_out,
        parts=found.parts,
        **{name: manifest[name] for name in _REPORTED},
    )
    try:
        write_atomically(path, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        write_atomically(path.with_name("report.json"), report.to_json())
    except OSError as error:
        text = f"the manifest {path} cannot be written: {error.strerror}"
        raise SparkanonError(text) from None
    return path
