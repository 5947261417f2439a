"""From a policy to a verified release: the flow, one line a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.audit.measure import measure_own, searches
from sparkanon.engine.cut.cuttings import cut
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.mask.stage import stage, staged_schema
from sparkanon.engine.mask.stager import Target
from sparkanon.engine.publish.places import places_for
from sparkanon.engine.publish.publish import publish
from sparkanon.engine.runs.gates import Gate, check_gates
from sparkanon.engine.runs.ids import new_run_id
from sparkanon.engine.runs.manifest import make_manifest
from sparkanon.engine.runs.record import Record
from sparkanon.engine.runs.steps import Steps, Watcher
from sparkanon.engine.session.session import session_of
from sparkanon.engine.sql.hidden import HiddenViews, hidden_views
from sparkanon.engine.stores.place import Place
from sparkanon.engine.table import tables
from sparkanon.engine.table.columns import check_promise, plain, resolve
from sparkanon.engine.verify.constraints import check
from sparkanon.engine.verify.verify import classes_of, verify
from sparkanon.errors import GateError, Problem, SparkanonError, counted
from sparkanon.measures import Given, Measure
from sparkanon.measures.anonymity import Sizes
from sparkanon.measures.loss import SquaredErrors
from sparkanon.needs import Known
from sparkanon.policy import Policy, Role, check_policy, make_policy, read_seed
from sparkanon.promises import Promise
from sparkanon.rng import Seed


@dataclass(frozen=True)
class Release:
    """A verified release. `data` is None when nothing was to be published (`dry_run`)."""

    status: str  # published, dry_run, refused
    data: DataFrame | None
    manifest: dict[str, Any]
    measures: tuple[Measure, ...]
    gates: tuple[Gate, ...]
    manifest_path: Place | None = None

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
    held: ExitStack  # what is given up at the end of the run

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
        with hidden_views(session) as views, ExitStack() as held:
            run = _Run(session, policy, seed, named, Steps(watcher), views, held)
            return _anonymize(run, df, dry_run)
    except Exception as error:
        if tables.is_unreadable(error):
            raise tables.unreadable(policy.input) from None
        raise


def _anonymize(run: _Run, df: DataFrame | None, dry_run: bool) -> Release:
    spark, policy, step = run.spark, run.policy, run.steps.step
    with step("read"):
        places = run.held.enter_context(places_for(spark, policy, dry_run=dry_run))
        table = tables.given_or_read(spark, df, policy)
        data = plain(table.data)
        columns = resolve(policy, data.schema)
        check_promise(policy, columns)
        if policy.output is not None:
            tables.check_writable(policy.output, columns.schema)
        keyed = with_key(data, columns)
    with step("fit"):
        facts = gather(keyed, columns, policy.k, policy.nulls, run.views)
        rows = counted(facts.rows, "row")
        run.steps.note(f"{rows}, {counted(len(facts.quasi), 'quasi-identifier')}")
    with step("cut"):
        cuttings = cut(keyed, facts, policy)
        run.steps.note(counted(cuttings.tree.blocks, "block", "blocks"))
    with places.release as staging:
        given = Given(facts.statistics, policy.k)
        pairs = places.pairs(wanted=searches(policy, given))
        with step("mask"):
            schema, sensitive = (
                staged_schema(columns, run.promise),
                policy.with_role(Role.SENSITIVE),
            )
            target = Target(spark, schema, sensitive, staging.table, pairs)
            blocks = stage(cuttings, facts, policy, run.seed, target)
        with step("verify"):
            staged = tables.read_staged(spark, staging.table.url, schema)
            if policy.output is not None:
                tables.check_lines(policy.output, staged, columns.schema)
            sizes = verify(staged, run.promise, facts.rows, policy.few)
            kept = check(staged, cuttings.constraints, classes_of(run.promise))
            classes = counted(sizes.classes, "class", "classes")
            run.steps.note(f"{classes}, the smallest has {sizes.smallest:,} records")
        known = Known({Sizes(): sizes, SquaredErrors(): blocks.errors})
        found = measure_own(staged, pairs, facts, given, known, policy, run.steps)
        measures = _each_once(found.measures, kept)
        gates = check_gates(policy, measures)
        passed = all(gate.passed for gate in gates)
        manifest = make_manifest(
            run_id=run.run_id,
            status=("dry_run" if dry_run else "published") if passed else "refused",
            policy=policy,
            by_store=places.by_store,
            seed=run.seed,
            source={
                "version": table.version,
                "fingerprint": blocks.fingerprint(run.seed, facts.rows_in),
            },
            rows_in=facts.rows_in,
            blocks=blocks.blocks,
            fitted=cuttings.fitted,
            sizes=sizes,
            measures=measures,
            gates=gates,
            seconds=run.steps.seconds,
            spark_version=spark.version,
        )
        release = Release(manifest["status"], None, manifest, measures, gates)
        record = Record(spark, policy, places.runs, manifest, found.parts, found.left_out)
        if not passed:
            path = None if dry_run else record.begin("refused")
            raise RefusedError(replace(release, manifest_path=path))
        if dry_run:
            return release
        with step("publish"), places.held():
            # whatever can fail is done before the release is published
            places.put_together(spark, pairs)
            path = record.begin("publishing")
            try:
                data = publish(spark, staged, staging, columns.schema, policy.output, manifest)
            except SparkanonError:
                with suppress(SparkanonError):
                    record.end("failed")
                raise
            places.keep_pairing(spark)
    record.end("published")
    return replace(release, data=data, manifest_path=path)


def _each_once(found: Sequence[Measure], kept: Sequence[Measure]) -> tuple[Measure, ...]:
    """What was measured, and what the constraints counted if nobody had asked for it."""
    taken = {(one.measure, one.column) for one in found}
    return (*found, *(one for one in kept if (one.measure, one.column) not in taken))
