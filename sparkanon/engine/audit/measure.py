"""Take the measures that a run asks for, and say why for each that cannot be taken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from sparkanon.catalogue import CATALOGUE, Taker, gives, measure_of, takers_of
from sparkanon.engine.audit.answers import Source, answered, no_order, unanswerable
from sparkanon.engine.fit.facts import Facts
from sparkanon.engine.pairs.pairs import Sides, own_release
from sparkanon.engine.runs.steps import Steps
from sparkanon.engine.stores.place import Place
from sparkanon.measures import MEASURES, Given, Measure
from sparkanon.measures.anonymity import Sizes
from sparkanon.measures.base import Taken
from sparkanon.measures.loss import SquaredErrors
from sparkanon.needs import Known, Need, Unanswerable
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import Policy, Role
from sparkanon.report.sections import SECTIONS
from sparkanon.spaces import Space
from sparkanon.spaces.base import serves_any_pair
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower

_UNDEFINED = (
    "it is not defined here: the columns it needs are constant, there are too few of them, or "
    "the policy has no k"
)
_TOO_FAR = "released values lie so far from the originals that no double holds it"
# The needs that are answered while a release is made and verified.
FREE: frozenset[Need[Any]] = frozenset({Sizes(), SquaredErrors()})
# So these cost nothing more, and are taken with every release.
STANDARD = frozenset(
    about.key
    for kind in MEASURES
    for about in gives(kind)
    if set(kind().needs(Given((), k=2))) <= FREE
)


@dataclass(frozen=True)
class Measured:
    """What was found, what the report draws, and what was left out and why."""

    measures: tuple[Measure, ...]
    parts: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    known: Known = field(default_factory=Known)


def asked_by_anonymize(policy: Policy) -> frozenset[str]:
    """The measures that cost nothing more, that the policy lists, or that its gates name."""
    gated = {measure_of(gate)[1] for gate in policy.gates}
    return STANDARD | policy.audit.named | gated


def asked_by_audit(policy: Policy) -> frozenset[str]:
    """All measures, unless the policy lists some."""
    if not isinstance(policy.audit.take, list):
        return frozenset(CATALOGUE)
    return asked_by_anonymize(policy) | {"min_class_size", "below_k"}


def searches(policy: Policy, given: Given) -> bool:
    """Whether anonymize has to look at the pair for what it is asked to measure."""
    asked = takers_of(asked_by_anonymize(policy), policy.audit.chosen)
    takers = _with_terms(asked, given)
    return any(need not in FREE for taker in takers for need in _needs(taker, given))


def measure_own(
    staged: DataFrame,
    pairs: Place | None,
    facts: Facts,
    given: Given,
    known: Known,
    policy: Policy,
    steps: Steps,
) -> Measured:
    """The measures that anonymize takes of its own release; what is known is not counted again."""
    # without pairs all that is asked for is known, and no side is looked at
    pair = staged.sparkSession.read.parquet(pairs.url) if pairs is not None else staged
    group = "g" if policy.promise.numbered else None
    sensitive = policy.with_role(Role.SENSITIVE)
    compared, blocks = own_release(facts.quasi), policy.promise.units
    sides = Sides(pair, pair, pair, compared, sensitive, group, blocks)
    return measure(sides, given, known, asked_by_anonymize(policy), policy, steps)


def measure(
    sides: Sides, given: Given, known: Known, wanted: frozenset[str], policy: Policy, steps: Steps
) -> Measured:
    """Take the measures of `wanted`: all of their needs are answered together."""
    asked = takers_of((name for name in CATALOGUE if name in wanted), policy.audit.chosen)
    takers = _with_terms(asked, given)
    left_out: dict[str, str] = {}
    able = [taker for taker in takers if not _left_out(taker, sides, given, left_out)]
    needs = [need for taker in able for need in _needs(taker, given)]
    open_ = [need for need in needs if need not in known]
    sections = {one: one.needs(given, needs, open_) for one in (kind() for kind in SECTIONS)}
    shown = [need for asked in sections.values() for need in asked]
    words = policy.method.release.words()
    source = Source(sides, given, _space(policy, given.statistics), words)
    known = answered(source, [*needs, *shown], known, steps)
    found: list[Measure] = []
    for taker in able:
        found += _finished(taker, given, known, found, left_out)
    defined = {one.measure for one in found if one.value is not None}
    for name in {about.key for taker in able for about in gives(taker)} - defined:
        left_out.setdefault(name, _UNDEFINED)
    parts = {
        section.part: section.collect(given, known.only(asked))
        for section, asked in sections.items()
        if section.part and asked and not _refused(known, asked)
    }
    return Measured(
        tuple(one for one in found if one.measure in wanted),
        {part: content for part, content in parts.items() if content},
        {name: why for name, why in left_out.items() if name in wanted},
        known,
    )


def _refused(known: Known, needs: Iterable[Need[Any]]) -> bool:
    return any(isinstance(known[need], Unanswerable) for need in needs)


def _needs(taker: Taker, given: Given) -> list[Need[Any]]:
    return [need for need in taker.needs(given) if not isinstance(need, Taken)]


def _terms(taker: Taker, given: Given) -> list[str]:
    """The measures that this one is computed from."""
    return [need.measure for need in taker.needs(given) if isinstance(need, Taken)]


def _with_terms(takers: Sequence[Taker], given: Given) -> list[Taker]:
    """The takers, after those of all measures that theirs are computed from."""
    own = {taker.key: taker for taker in takers}
    for taker in takers:
        for term in takers_of(_terms(taker, given)):
            own.setdefault(term.key, term)
    return sorted(own.values(), key=lambda taker: len(_terms(taker, given)))


def _left_out(taker: Taker, sides: Sides, given: Given, left_out: dict[str, str]) -> bool:
    reasons = [no_order(sides)] if taker.ordered else []
    refused = (unanswerable(need, sides) for need in taker.needs(given))
    reasons += [one.reason for one in refused if one is not None]
    reasons += [_made_of(name, left_out) for name in _terms(taker, given) if name in left_out]
    why = next((reason for reason in reasons if reason is not None), None)
    if why is not None:
        left_out |= {about.key: why for about in gives(taker)}
    return why is not None


def _made_of(name: str, left_out: Mapping[str, str]) -> str:
    return f"it is made of {name}: {left_out.get(name, _UNDEFINED)}"


def _finished(
    taker: Taker,
    given: Given,
    known: Known,
    before: Sequence[Measure],
    left_out: dict[str, str],
) -> list[Measure]:
    """The measures of one taker, or the reason why there are none."""
    terms: dict[Need[Any], Any] = {
        Taken(name): tuple(one for one in before if one.measure == name)
        for name in _terms(taker, given)
    }
    answers = [known[need] for need in _needs(taker, given)]
    reasons = [one.reason for one in answers if isinstance(one, Unanswerable)]
    reasons += [
        _made_of(name, left_out)
        for name in _terms(taker, given)
        if not terms[Taken(name)] or terms[Taken(name)][0].value is None
    ]
    if reasons:
        left_out |= {about.key: reasons[0] for about in gives(taker)}
        return []
    found = taker.finish(given, known.with_answers(terms))
    numbers = (number for one in found for number in (one.value, one.low, one.high))
    if any(number is not None and not math.isfinite(number) for number in numbers):
        left_out |= {about.key: _TOO_FAR for about in gives(taker)}
        return []
    return found


def _space(policy: Policy, statistics: Sequence[ColumnStatistics]) -> Space:
    """The space of the policy, if it serves any pair and takes all of its columns."""
    own = policy.method.space
    own = own if serves_any_pair(own) else Euclidean()
    return own if all(s.scale in own.scales for s in statistics) else Gower()
