"""All measures: those of the measure specs, and those that attacks give.

Gates, policies, glossary, docs, reports and sweeps look measures up here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkanon.attacks import ATTACKS, Attack
from sparkanon.errors import Problem
from sparkanon.measures import FAMILIES, MEASURES, About, MeasureSpec
from sparkanon.registry import unknown

Taker = MeasureSpec | Attack  # what takes one or more measures


def gives(taker: type[Taker] | Taker) -> tuple[About, ...]:
    """The measures that a spec or an attack takes."""
    own = getattr(taker, "about", None)
    return (own,) if own is not None else of_attack(taker)  # type: ignore[arg-type]


def of_attack(attack: type[Attack] | Attack) -> tuple[About, ...]:
    """The measures of its risk, of its baseline and of its control, if it has one."""
    control = () if attack.control is None else (attack.control,)
    return (*attack.gives, attack.baseline, *control)


TAKERS: Mapping[str, type[Taker]] = {item.key: item for item in (*MEASURES, *ATTACKS)}
_TAKER_OF: Mapping[str, type[Taker]] = {
    about.key: item for item in TAKERS.values() for about in gives(item)
}
CATALOGUE: Mapping[str, About] = {
    about.key: about
    for family in FAMILIES
    for item in TAKERS.values()
    for about in gives(item)
    if about.family == family
}
# For each risk that an attack gives, what a guess without the release gets right.
BASELINES: Mapping[str, str] = {
    about.key: attack.baseline.key for attack in ATTACKS for about in attack.gives
}
ALIASES: Mapping[str, str] = {"k": "min_class_size"}  # other names of measures in gates
GATES: tuple[str, ...] = (
    *(gate for about in CATALOGUE.values() for gate in about.gates),
    "min_k",
)

# A release that guarantees nothing must pass at least one of these.
RISK_GATES: tuple[str, ...] = (
    *(
        gate
        for about in CATALOGUE.values()
        if about.is_risk and about.better != "neither"
        for gate in about.gates
    ),
    "min_k",
)


def about(measure: str) -> About | None:
    """What is known about a measure; None if this version does not know it."""
    return CATALOGUE.get(ALIASES.get(measure, measure))


def measure_of(gate: str) -> tuple[str, str]:
    """The side of a gate (min, max) and the measure that it is about."""
    side, _, name = gate.partition("_")
    return side, ALIASES.get(name, name)


def gate_problem(gate: str) -> Problem | None:
    """Why this name is no gate: it is unknown, or against the direction of its measure."""
    if gate in GATES:
        return None
    side, name = measure_of(gate)
    known = CATALOGUE.get(name)
    if known is None or side not in ("min", "max"):
        return Problem(f"gates.{gate}", unknown("gate", gate, GATES).message)
    other = known.gates[0]
    text = f"would let bad releases pass: for {name}, {known.direction}; say {other}"
    return Problem(f"gates.{gate}", text)


def takers_of(measures: Iterable[str], chosen: Iterable[Taker] = ()) -> tuple[Taker, ...]:
    """The specs that take these measures; `chosen` are specs with parameters of their own."""
    own = {taker.key: taker for taker in chosen}
    kinds = dict.fromkeys(_TAKER_OF[ALIASES.get(name, name)] for name in measures)
    return tuple(own.get(kind.key) or kind() for kind in kinds)
