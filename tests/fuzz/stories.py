"""What is done with a table and a policy: one call, or several that must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from attempts import Notes, Outcome, Setting, attempt, engine_as, frame_of, listing
from leaks import demand
from policies import Plan
from pyspark.sql import functions as F
from random_tables import Rng
from reading import comparable

import sparkanon
from sparkanon.engine.sweep.sweep import sweep
from sparkanon.engine.table.profile import profile
from sparkanon.errors import GateError
from sparkanon.policy import make_policy
from sparkanon.policy.grid import make_cells
from sparkanon.report import write_report

Story = Callable[[Rng, Setting, Plan], Outcome]


def once(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Publish; now and then with compiled plans and some partitions."""
    return attempt(at, plan, turn=int(rng.random() < 0.25), parts=int(rng.integers(1, 4)))


def again(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Publish twice, with other partitions and settings: the same release, or the same refusal."""
    turn = int(rng.integers(2))
    first = attempt(at, plan, turn=turn, parts=1)
    second = attempt(at, plan, turn=1 - turn, parts=int(rng.integers(2, 8)))
    demand(first.status == second.status, "published once, refused once")
    demand(first.refusal == second.refusal, "refused for two reasons")
    if first.status == "published":
        demand(first.rows() == second.rows(), "two runs with other partitions differ")
    return first


def over(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Publish, then another release in its place; with a stranger in it, nothing may change."""
    first = once(rng, at, plan)
    if first.status != "published" or "output" not in plan.policy:
        return first
    folder, what = at.folder / "release", rng.random()
    if what < 0.3 and plan.format in ("parquet", "csv"):
        (folder / "notes.txt").write_text("added by hand")
        attempt(at, _doomed(plan, "stranger"))
    elif what < 0.6:
        refused = plan.changed(gates={"min_min_class_size": at.table.rows.num_rows + 1})
        attempt(at, _doomed(refused, "gate"))
    elif plan.k:
        rows = at.table.taking_part(plan.policy["nulls"]).rows.num_rows
        k = plan.k - 1 if plan.k > 4 else min(plan.k + 1, rows)
        other = plan.changed(k=k, gates={})
        other.must, other.may = set(), plan.may - {"gate"}
        attempt(at, other)
    return first


def _doomed(plan: Plan, why: str) -> Plan:
    plan = plan.changed()
    plan.must, plan.may = {why}, set()
    return plan


def dry(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Do everything but publish, then publish: both must report the same."""
    first = attempt(at, plan, dry_run=True)
    second = once(rng, at, plan)
    demand((first.status == "refused") == (second.status == "refused"), "a dry run differs")
    if second.status == "published":
        measured = (one.made.manifest["measures"] for one in (first, second))
        for one, other in zip(*measured, strict=True):
            demand(_near(one["value"], other["value"]), "a dry run measures something else")
    return second


def _near(one: float | None, other: float | None) -> bool:
    """The same number, but for the order in which Spark has added it up."""
    if one is None or other is None:
        return one is other
    return bool(np.isclose(one, other, rtol=1e-6, atol=1e-9))


def audit_own(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Publish, then audit the release by what the policy says."""
    first = once(rng, at, plan)
    if first.status != "published" or plan.format in (None, "delta", "table"):
        return first
    data = None if "input" in plan.policy else frame_of(at, 2)
    found, passed = _audited(at, plan, data, None)
    classes = [m.value for m in found.measures if m.measure == "min_class_size"]
    if classes and not plan.draws:
        wanted = first.made.manifest["min_class_size"]
        demand(classes == [wanted], "the audit counts another smallest class")
    gated = "gates" in plan.policy or (plan.draws and "private" not in plan.policy)
    demand(passed or gated, "the audit fails our own release")
    _draw(at)
    return first


def audit_foreign(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Audit a table that some other tool made: raw cells, with the names still in it or not."""
    first = attempt(at, plan)
    if first.status != "published" or "input" in plan.policy:
        return first
    named = bool(rng.random() < 0.4)
    data = frame_of(at, 2)
    if plan.policy["nulls"] == "drop_row":
        return first
    made = data if named else data.drop("person")
    if rng.random() < 0.5:
        made = made.withColumn("new", F.lit(1))
    key = "tag" if at.table.tagged and rng.random() < 0.5 else None
    policy = {name: part for name, part in plan.policy.items() if name != "private"}
    found, passed = _audited(at, plan.__class__(policy), data, made, key)
    demand(not (named and passed), "an audit passes a release with identifiers")
    names = [q.name for q in at.table.quasi]
    cells = [map(repr, comparable(at.table.clean(name))) for name in names]
    smallest = min(Counter(zip(*cells, strict=True)).values())
    classes = [m.value for m in found.measures if m.measure == "min_class_size"]
    demand(classes == [smallest], "the audit counts another smallest class")
    demand(not passed or smallest >= plan.k, "an audit passes raw rows")
    return first


def _audited(
    at: Setting, plan: Plan, original: Any, released: Any, key: str | None = None
) -> tuple[Any, bool]:
    passed = True
    try:
        with engine_as(at, plan, 0):
            found = sparkanon.audit(
                original, released, plan.policy, key=key, watcher=Notes(at.texts), spark=at.spark
            )
    except GateError as error:
        at.texts.append(str(error))
        found, passed = error.audit, False  # type: ignore[attr-defined]
    for one in found.measures:
        demand(one.value is None or bool(np.isfinite(one.value)), f"{one.measure} is no number")
        if one.measure.startswith("linkage") and one.value is not None:
            demand(0 <= one.value <= 1 + 1e-9, f"{one.measure} is no share")
    return found, passed


def _draw(at: Setting) -> None:
    """The page of every run, which must not show a cell either."""
    for folder in (at.folder / "runs").iterdir():
        if (folder / "report.json").is_file():
            write_report(folder)


def swept(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """A map of two cells; nothing is published by it."""
    first = once(rng, at, plan)
    if first.status != "published" or "input" in plan.policy or not plan.k:
        return first
    before = listing(at.folder)
    policy = make_policy({n: p for n, p in plan.policy.items() if n not in ("private", "gates")})
    cells = make_cells(policy, {"k": [4, 5]})
    with engine_as(at, plan, 0):
        sweep(frame_of(at, 2), policy, cells, at.folder / "sweep", spark=at.spark)
    after = {n: one for n, one in listing(at.folder).items() if not n.startswith("sweep/")}
    demand(after == before, "a sweep published something")
    return first


def profiled(rng: Rng, at: Setting, plan: Plan) -> Outcome:
    """Look at the table, then publish."""
    found = profile(frame_of(at, 2))
    at.texts.append(repr(found.to_dict()))
    demand(found.rows == at.table.rows.num_rows, "a profile counts other rows")
    return once(rng, at, plan)


STORIES: dict[Story, float] = {
    once: 0.5,
    again: 0.2,
    over: 0.1,
    dry: 0.05,
    audit_own: 0.05,
    audit_foreign: 0.04,
    profiled: 0.05,
    swept: 0.01,
}
