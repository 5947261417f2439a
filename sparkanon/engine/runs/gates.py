"""Gates: limits that stop a publication, compared with the worse end of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sparkanon.catalogue import measure_of
from sparkanon.measures import Measure
from sparkanon.policy import Policy

# Of a limit. The last digits of a sum vary with the order in which a cluster adds it up: a fifth
# may be 0.20000000000000015, and must pass a limit of 0.2 on every cluster or on none.
EQUAL = 1e-9


@dataclass(frozen=True)
class Gate:
    """A limit, the value that was measured, and whether the release may pass.

    `compared` is what the limit was compared with: the value if it is exact, otherwise the end of
    its interval that is worse for the release. So a sample too small to decide does not pass.
    """

    gate: str
    limit: float
    value: float | None
    passed: bool
    compared: float | None = None

    @property
    def measured(self) -> str:
        limit = f"the limit is {self.limit:g}"
        if self.value is None or self.compared is None:
            return f"could not be measured, {limit}"
        if self.compared == self.value:
            return f"is {self.value:.6g}, {limit}"
        ends = f"is {self.value:.6g} in a sample, and may be {self.compared:.6g} in truth"
        larger = "" if self.passed else "; a larger sample (audit.targets) may decide otherwise"
        return f"{ends}, {limit}{larger}"

    @property
    def failure(self) -> str:
        return f"{self.measured}; nothing was published"


def check_gates(policy: Policy, measures: Sequence[Measure]) -> tuple[Gate, ...]:
    """Every gate of the policy; a promise of k is the first of them."""
    found = {m.measure: m for m in measures if m.column is None and m.value is not None}
    limits, k = dict(policy.gates), policy.promise.k
    if k is not None:
        limits = {"min_k": max(k, limits.pop("min_k", 0.0))} | limits
    return tuple(_checked(name, limit, found) for name, limit in limits.items())


def _checked(gate: str, limit: float, found: dict[str, Measure]) -> Gate:
    side, name = measure_of(gate)
    one = found.get(name)
    if one is None:  # a value that is missing cannot be shown to be inside its limit
        return Gate(gate, limit, None, passed=False)
    end = one.low if side == "min" else one.high
    compared = one.value if end is None else end
    if compared is None:
        return Gate(gate, limit, None, passed=False)
    inside = compared >= limit if side == "min" else compared <= limit
    passed = inside or math.isclose(compared, limit, rel_tol=EQUAL)
    return Gate(gate, limit, one.value, passed, compared)
