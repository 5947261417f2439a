"""All measures of a pair that are asked for, and the reason for each that cannot be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparkanon.engine.audit.attributes import attribute_measures
from sparkanon.engine.audit.classes import class_measures, class_sizes, subset_measures
from sparkanon.engine.audit.losses import PAIRED, losses
from sparkanon.engine.linkage.linkage import linkage
from sparkanon.engine.linkage.tuples import with_tuples
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.runs.steps import Steps
from sparkanon.measures import CATALOGUE, STANDARD, Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.measures.base import (
    ATTRIBUTES,
    CLASSES,
    DISTORTION,
    ENTROPY,
    INTERVALS,
    LINKAGE,
    LOSS,
    SCORED,
    SUBSETS,
    with_needed,
)
from sparkanon.measures.score import il_dr_score
from sparkanon.numeric.records import Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import Policy
from sparkanon.policy.model import AuditPolicy
from sparkanon.releases.generalize import words_over
from sparkanon.spaces import Space
from sparkanon.spaces.base import serves_any_pair
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower

_UNTOLD = "it is not defined here: the columns it needs are constant, or there are too few of them"
_NO_PAIRING = (
    "nobody knows which released row was which record: give a key, or let anonymize keep the "
    "pairing (private: {path: ...})"
)


@dataclass(frozen=True)
class Measured:
    """What was found, what the report draws, and what was left out and why."""

    measures: tuple[Measure, ...]
    parts: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    sizes: ClassSizes | None = None


def asked_by_anonymize(policy: Policy) -> frozenset[str]:
    """Those that the policy takes and those that its gates name."""
    taken = policy.audit.take
    named = frozenset(gate.partition("_")[2] for gate in policy.gates)
    if taken == "all":
        return frozenset(CATALOGUE)
    return with_needed(STANDARD | named | frozenset(taken if isinstance(taken, list) else ()))


def asked_by_audit(policy: Policy) -> frozenset[str]:
    """All of them, unless the policy lists some."""
    taken = policy.audit.take
    if not isinstance(taken, list):
        return frozenset(CATALOGUE)
    return with_needed(asked_by_anonymize(policy) | frozenset(CLASSES))


def measure(
    sides: Sides,
    statistics: tuple[ColumnStatistics, ...],
    wanted: frozenset[str],
    policy: Policy,
    steps: Steps,
) -> Measured:
    """Take the measures of `wanted`, a pass for each family of them."""
    how, found, parts = policy.audit, list[Measure](), dict[str, Any]()
    left_out = _impossible(sides, wanted)
    todo = wanted - set(left_out)
    sizes = None
    if todo & set(CLASSES):
        with steps.step("classes"):
            sizes = class_sizes(sides, policy.k)
            found += class_measures(sizes)
    if todo & {*LOSS, *DISTORTION, *ENTROPY, *INTERVALS}:
        with steps.step("loss"):
            lost = losses(sides, statistics, todo, how.interval, policy.k)
            found += lost.measures
            parts |= lost.parts
    if todo & set(SUBSETS):
        with steps.step("subsets"):
            found += subset_measures(sides, how.subsets)
    if todo & set(ATTRIBUTES):
        with steps.step("attributes"):
            found += attribute_measures(sides, how.recursive_c)
    if todo & set(LINKAGE) and sides.pair is not None:
        with steps.step("linkage"):
            space = _space(policy, statistics)
            words = words_over(policy.method.release)
            linked = linkage(sides, sides.pair, statistics, space, how.targets, words=words)
            found += with_tuples(linked.measures, sides, sides.pair)
            found.append(Measure("linkage_baseline", 1.0 / statistics[0].n))
            if linked.measures and not sides.blocks:  # about whole rows, and tuples link more
                parts["outlyingness"] = linked.outlyingness
            left_out |= {name: why for name, why in linked.left_out.items() if name in todo}
    if "il_dr_score" in todo:
        found += _score(found, how, left_out)
    told = {m.measure for m in found if m.value is not None}
    for name in todo - told - {"k"}:
        left_out.setdefault(name, _UNTOLD)
    kept = tuple(m for m in found if m.measure in wanted)
    return Measured(kept, parts, left_out, sizes)


def _impossible(sides: Sides, wanted: frozenset[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    if sides.pair is None:
        unpaired = (PAIRED | set(LINKAGE) | {"il_dr_score"}) & wanted
        found |= dict.fromkeys(unpaired, _NO_PAIRING)
    if not sides.sensitive:
        reason = "no sensitive column is in the release"
        found |= dict.fromkeys(set(ATTRIBUTES) & wanted, reason)
    elif sides.group is not None:
        reason = "this release has groups, not classes, and does not tell them"
        found |= dict.fromkeys(set(ATTRIBUTES) & wanted, reason)
    if all(c.scale is Scale.NOMINAL for c in sides.compared):
        reason = "it needs a numeric or ordinal quasi-identifier"
        needed = {*DISTORTION, *INTERVALS, "il_dr_score"} & wanted
        found |= dict.fromkeys(needed, reason)
    return found


def _space(policy: Policy, statistics: Sequence[ColumnStatistics]) -> Space:
    """The policy's own, if it serves any pair and takes all columns of this one."""
    own = policy.method.space
    own = own if serves_any_pair(own) else Euclidean()
    return own if all(s.scale in own.scales for s in statistics) else Gower()


def _score(found: Sequence[Measure], how: AuditPolicy, left_out: dict[str, str]) -> list[Measure]:
    table = {m.measure: m for m in found if m.column is None}
    values = {name: m.value for name, m in table.items()}
    missing = [name for name in SCORED if values.get(name) is None]
    if missing:
        left_out["il_dr_score"] = f"it is made of {', '.join(missing)}"
        return []
    il_metrics, il1s, linked, interval = (float(values[name] or 0.0) for name in SCORED)

    def score(linkage: float) -> float | None:
        return il_dr_score(il_metrics, il1s, linkage, interval, how.weights).value

    ends = table[SCORED[2]].low, table[SCORED[2]].high
    low, high = (None if end is None else score(end) for end in ends)
    return [Measure("il_dr_score", score(linked), None, low, high)]
