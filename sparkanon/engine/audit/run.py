"""The audit of a pair: read both tables, measure, compare with the gates, report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sparkanon.engine.audit.contents import GATE, Contents, Pair, contents
from sparkanon.engine.audit.measure import Measured, asked_by_audit, measure
from sparkanon.engine.fit.facts import Facts, for_masking, gather, usable, with_key
from sparkanon.engine.pairs.pairing import check_same, kept
from sparkanon.engine.pairs.pairs import Sides, own_release, renamed
from sparkanon.engine.pairs.sides import apart, compare, fewer_rows, joined
from sparkanon.engine.runs.gates import Gate, check_gates
from sparkanon.engine.runs.ids import new_run_id
from sparkanon.engine.runs.manifest import versions_of
from sparkanon.engine.runs.measures_table import append
from sparkanon.engine.runs.steps import Steps, Watcher
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.session.session import session_of
from sparkanon.engine.sql.hidden import HiddenViews, hidden_views
from sparkanon.engine.stores.folders import check_writable
from sparkanon.engine.stores.place import Place
from sparkanon.engine.table import tables
from sparkanon.engine.table.columns import Columns, plain, resolve
from sparkanon.errors import GateError, InputError, Problem, SparkanonError, counted
from sparkanon.measures import Given, Measure
from sparkanon.measures.anonymity import Sizes
from sparkanon.needs import Known
from sparkanon.policy import NullPolicy, Policy, Role, check_policy, make_policy
from sparkanon.releases import Cells
from sparkanon.report.run_report import RunReport


@dataclass(frozen=True)
class Audit:
    """What was measured, how it stands against the gates, and what was left out and why."""

    status: str  # ok, refused
    run_id: str
    measures: tuple[Measure, ...]
    gates: tuple[Gate, ...]
    left_out: Mapping[str, str]
    report: RunReport  # what `sparkanon report` draws
    columns: Contents  # what is in the release and should perhaps not be
    folder: Place | None = None

    def failure(self, gate: Gate) -> str:
        """Why this gate was not passed."""
        return self.columns.failure if gate.gate == GATE else gate.measured


class FailedAuditError(GateError):
    """A gate was not passed; carries the audit."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        failed = [gate for gate in audit.gates if not gate.passed]
        super().__init__([Problem(f"gates.{g.gate}", audit.failure(g)) for g in failed])


def audit(
    original: DataFrame | None,
    released: DataFrame | None,
    policy: Policy | Mapping[str, Any],
    *,
    key: str | None = None,
    run_id: str | None = None,
    watcher: Watcher | None = None,
    spark: SparkSession | None = None,
) -> Audit:
    """Measure a release against its original, whoever made it.

    Parameters
    ----------
    original, released : the tables; None reads the policy's `input` and `output`
    policy : roles, k, gates and how to measure (`audit`); the method is used for distances only
    key : a column of both tables that says which rows belong together. Without it the pairing
        that anonymize kept (`private`) is used, if there is one; else only what needs no pairing
        is measured.

    Raises
    ------
    PolicyError, InputError : nothing was measured
    FailedAuditError : a gate was not passed; `.audit` has everything that was measured
    """
    policy = check_policy(policy) if isinstance(policy, Policy) else make_policy(policy)
    spark = session_of(spark, original, released)
    try:
        with hidden_views(spark) as views:
            named = run_id or new_run_id()
            return _audit(spark, original, released, policy, key, named, watcher, views)
    except Exception as error:
        if tables.is_unreadable(error):
            text = "a file of the original or of the release is damaged or malformed"
            raise InputError(text) from None
        raise


def _audit(
    spark: SparkSession,
    original: DataFrame | None,
    released: DataFrame | None,
    policy: Policy,
    key: str | None,
    run_id: str,
    watcher: Watcher | None,
    views: HiddenViews,
) -> Audit:
    steps, own = Steps(watcher), released is None
    with steps.step("read"):
        runs = locate(spark, policy.runs, "runs")
        check_writable(runs, "runs")
        x = plain(tables.given_or_read(spark, original, policy, "original").data)
        columns = resolve(policy, x.schema)
        z = plain(released) if released is not None else _own_release(spark, policy, columns)
        keyed = with_key(x, columns)
    with steps.step("fit"):
        facts = gather(keyed, columns, policy.k, policy.nulls, views)
        rows = counted(facts.rows, "row")
        steps.note(f"{rows}, {counted(len(facts.quasi), 'quasi-identifier')}")
    with steps.step("pair"):
        cleaned = keyed.filter(usable(facts.quasi)) if _drops(policy) else keyed
        sides, pair, left_out = _sides(spark, policy, facts, (x, cleaned), z, key, own)
    with steps.step("contents"):
        held = contents(policy, pair)
    if own and sides.group is None:
        sides = replace(sides, no_classes=no_classes(policy), no_means=no_means(policy))
    statistics = tuple(s for s in facts.statistics if s.name in {c.name for c in sides.compared})
    given = Given(statistics, policy.k, sides.pair is not None, sides.suppressed / statistics[0].n)
    wanted = asked_by_audit(policy) - set(left_out)
    found = measure(sides, given, Known(), wanted, policy, steps)
    return _finished(spark, policy, facts, found, held, left_out, runs, run_id, steps)


def _own_release(spark: SparkSession, policy: Policy, columns: Columns) -> DataFrame:
    sink = policy.output
    if sink is None:
        raise InputError(Problem("output", "is required when no release is given"))
    try:
        if sink.format in ("delta", "table"):
            return tables.read(spark, tables.as_source(sink)).data
        return tables.read_release(spark, sink, columns.schema)
    except InputError as error:
        problems = [
            Problem(p.path.replace("input", "output", 1), p.message) for p in error.problems
        ]
        raise InputError(problems) from None


def no_classes(policy: Policy) -> str | None:
    """Why the rows of our own release do not show its classes, or None."""
    if policy.promise.numbered:
        return "a release that draws from groups does not show them: keep the pairing (private)"
    return None


def no_means(policy: Policy) -> str | None:
    """Why the values of our own release are not means of groups, or None."""
    cells, weighted = policy.method.release.cells, bool(policy.with_role(Role.WEIGHT))
    if policy.promise.numbered or (cells is Cells.MEANS and not weighted):
        return no_classes(policy)
    what = "weighted centres" if cells is Cells.MEANS else cells.value
    return f"{what} are not means of their groups: keep the pairing (private)"


def _drops(policy: Policy) -> bool:
    return policy.nulls is NullPolicy.DROP_ROW


def _sides(
    spark: SparkSession,
    policy: Policy,
    facts: Facts,
    originals: tuple[DataFrame, DataFrame],
    released: DataFrame,
    key: str | None,
    own: bool,
) -> tuple[Sides, Pair, dict[str, str]]:
    raw, cleaned = originals
    sensitive = policy.with_role(Role.SENSITIVE)
    rows = released.count()
    if not rows:
        raise InputError(Problem("release", "the table is empty"))
    compared, published = compare(facts.quasi, sensitive, released)
    gone = [q.name for q in facts.quasi if q.name not in {c.name for c in compared}]
    left_out = {f"column {name}": "it is not in the release" for name in gone}
    clean = raw.withColumns({q.name: F.expr(q.clean) for q in facts.quasi})
    every = clean.filter(usable(facts.quasi)) if _drops(policy) else clean  # identifiers, too
    pair = Pair(every, released, permuted=own and bool(policy.promise.units))
    if key is not None:
        sides = joined(compared, published, every, released, key, policy.audit.suppression)
        sides = replace(sides, blocks=policy.promise.units)
        return sides, replace(pair, key=key, suppressed=sides.suppressed > 0), left_out
    pairs = None
    if policy.private is not None and own:
        pairs = kept(spark, locate(spark, policy.private.path, "private.path"))
    if pairs is not None:
        both = [("z", released, "release")]
        if policy.nulls is not NullPolicy.IMPUTE:  # whose pairs hold the imputed cells
            both.append(("x", for_masking(cleaned, facts.quasi), "original"))
        names = [c.name for c in compared]
        for letter, table, what in both:
            numbered = [f"{letter}{i}" for i in range(len(names))]
            check_same(pairs, table.selectExpr(*renamed(names, letter)), numbered, what)
        group = "g" if "g" in pairs.columns else None
        known, blocks = own_release(facts.quasi), policy.promise.units
        sides = Sides(pairs, pairs, pairs, known, published, group, blocks)
        return sides, replace(pair, kept=pairs, compared=known), left_out
    if rows != facts.rows and not (policy.audit.suppression and rows < facts.rows):
        raise InputError(fewer_rows(facts.rows, rows))
    if rows < facts.rows:
        pair = replace(pair, suppressed=True)
        left_out["copies"] = (
            "rows were suppressed, and only a key shows which: give a key; without one a copy is "
            "found only where it holds nothing but an original's values, most of them once"
        )
    return apart(compared, published, cleaned, released), pair, left_out


def _finished(
    spark: SparkSession,
    policy: Policy,
    facts: Facts,
    found: Measured,
    held: Contents,
    left_out: dict[str, str],
    runs: Place,
    run_id: str,
    steps: Steps,
) -> Audit:
    gates = (*check_gates(policy, found.measures), held.gate)
    status = "ok" if all(gate.passed for gate in gates) else "refused"
    left_out = left_out | dict(found.left_out)
    rows_out = found.known[Sizes()].records if Sizes() in found.known else facts.rows
    report = RunReport(
        command="audit",
        run_id=run_id,
        status=status,
        policy=policy.to_dict(),
        policy_hash=policy.digest(),
        k=policy.k,
        rows_in=facts.rows_in,
        rows_out=rows_out,
        measures=[one.to_dict() for one in found.measures],
        gates=[asdict(gate) for gate in gates],
        left_out=left_out,
        parts={**found.parts, "columns": held.to_dict()},
        seconds=steps.seconds,
        versions=versions_of(spark.version),
    )
    folder = runs / run_id
    try:
        (folder / "report.json").replace_text(report.to_json())
    except OSError as error:
        raise SparkanonError(f"cannot write the report {folder}: {error.strerror}") from None
    if policy.audit.table is not None:
        append(spark, policy.audit.table, run_id, datetime.now(UTC), found.measures)
    done = Audit(status, run_id, found.measures, gates, left_out, report, held, folder)
    if status == "refused":
        raise FailedAuditError(done)
    return done
