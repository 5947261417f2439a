"""The manifest of a run: everything that can be told without telling a cell."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sparkanon.measures import Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.policy import Policy
from sparkanon.rng import Seed

_LIBRARIES = ("sparkanon", "pyspark", "delta-spark", "numpy", "numba", "pyarrow", "pydantic")


@dataclass(frozen=True)
class Gate:
    """A limit, the value that was measured, and whether the release may pass."""

    gate: str
    limit: float
    value: float | None
    passed: bool


def check_gates(policy: Policy, measures: Sequence[Measure]) -> list[Gate]:
    """Every gate of the policy; the promise of k itself always stands first."""
    values = {m.measure: m.value for m in measures if m.column is None}
    values["k"] = values["min_class_size"]
    gates = []
    for gate, limit in ({"min_k": float(policy.k)} | policy.gates).items():
        side, _, measure = gate.partition("_")
        value = values.get(measure)
        # a value that is missing cannot be shown to be inside its limit
        passed = value is not None and (value >= limit if side == "min" else value <= limit)
        if gate == "min_k":
            limit = max(limit, float(policy.k))
            passed = value is not None and value >= limit
        gates.append(Gate(gate, limit, value, passed))
    return gates


def make_manifest(
    *,
    run_id: str,
    status: str,
    policy: Policy,
    seed: Seed,
    source: dict[str, Any],
    rows_in: int,
    rows_out: int,
    blocks: int,
    sizes: ClassSizes,
    measures: Sequence[Measure],
    gates: Sequence[Gate],
    seconds: dict[str, float],
    spark_version: str,
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "status": status,
        "policy": policy.to_dict(),
        "policy_hash": policy.digest(),
        "input": source,
        "rows_in": rows_in,
        "rows_out": rows_out,
        "k": policy.k,
        "min_class_size": sizes.smallest,
        "class_sizes": sizes.to_dict(),
        "blocks": blocks,
        "measures": [measure.to_dict() for measure in measures],
        "gates": [asdict(gate) for gate in gates],
        "seconds": seconds,
        "seed_commitment": seed.commitment(run_id),
        "versions": _versions() | {"spark": spark_version, "python": platform.python_version()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
