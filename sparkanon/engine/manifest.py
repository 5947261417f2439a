"""The manifest of a run: everything that can be told without telling a cell."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sparkanon.measures import Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.policy import Policy
from sparkanon.report import REPORT_VERSION
from sparkanon.rng import Seed

_LIBRARIES = ("sparkanon", "pyspark", "delta-spark", "numpy", "numba", "pyarrow", "pydantic")


@dataclass(frozen=True)
class Gate:
    """A limit, the value that was measured, and whether the release may pass."""

    gate: str
    limit: float
    value: float | None
    passed: bool

    @property
    def measured(self) -> str:
        found = "could not be measured" if self.value is None else f"is {self.value:.6g}"
        return f"{found}, the limit is {self.limit:g}"

    @property
    def failure(self) -> str:
        return f"{self.measured}; nothing was published"


def check_gates(policy: Policy, measures: Sequence[Measure]) -> tuple[Gate, ...]:
    """Every gate of the policy; the promise of k itself always stands first."""
    values = {m.measure: m.value for m in measures if m.column is None}
    values["k"] = values.get("min_class_size")
    limits = policy.gates | {"min_k": max(policy.k, policy.gates.get("min_k", 0.0))}
    gates = []
    for gate in ("min_k", *(name for name in limits if name != "min_k")):
        side, _, measure = gate.partition("_")
        limit, value = limits[gate], values.get(measure)
        # a value that is missing cannot be shown to be inside its limit
        passed = value is not None and (value >= limit if side == "min" else value <= limit)
        gates.append(Gate(gate, limit, value, passed))
    return tuple(gates)


def make_manifest(
    *,
    run_id: str,
    status: str,
    policy: Policy,
    seed: Seed,
    source: dict[str, Any],
    rows_in: int,
    blocks: int,
    fitted: Mapping[str, float],
    sizes: ClassSizes,
    measures: Sequence[Measure],
    gates: Sequence[Gate],
    seconds: dict[str, float],
    spark_version: str,
) -> dict[str, Any]:
    """`seconds` is kept as it is, so that steps still to come are told, too."""
    return {
        "run_id": run_id,
        "status": status,
        "policy": policy.to_dict(),
        "policy_hash": policy.digest(),
        "input": source,
        "rows_in": rows_in,
        "rows_out": sizes.records,
        "k": policy.k,
        "min_class_size": sizes.smallest,
        "class_sizes": sizes.to_dict(),
        "blocks": blocks,
        "fitted": dict(fitted),  # by the space: alpha and number of classes of lda
        "measures": [measure.to_dict() for measure in measures],
        "gates": [asdict(gate) for gate in gates],
        "seconds": seconds,
        "seed_commitment": seed.commitment(run_id),
        "versions": _versions() | {"spark": spark_version, "python": platform.python_version()},
    }


def report_of(
    *,
    command: str,
    run_id: str,
    status: str,
    policy: Policy,
    rows_in: int,
    rows_out: int,
    sizes: ClassSizes | None,
    measures: Sequence[Measure],
    gates: Sequence[Gate],
    left_out: Mapping[str, str],
    parts: Mapping[str, Any],
    seconds: dict[str, float],
    spark_version: str,
) -> dict[str, Any]:
    """What `sparkanon report` draws: numbers only, no count below k, no cell."""
    told = {
        "report_version": REPORT_VERSION,
        "command": command,
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "run_id": run_id,
        "status": status,
        "policy": policy.to_dict(),
        "policy_hash": policy.digest(),
        "rows_in": rows_in,
        "rows_out": rows_out,
        "k": policy.k,
        "measures": [measure.to_dict() for measure in measures],
        "gates": [asdict(gate) for gate in gates],
        "left_out": [{"measure": name, "why": why} for name, why in sorted(left_out.items())],
        "seconds": seconds,
        "versions": _versions() | {"spark": spark_version, "python": platform.python_version()},
        **parts,
    }
    return told | ({"class_sizes": sizes.to_dict()} if sizes is not None else {})


def report_from(
    manifest: Mapping[str, Any], parts: Mapping[str, Any], left_out: Mapping[str, str]
) -> dict[str, Any]:
    """The same for a run of anonymize, whose manifest has most of it."""
    return {
        "report_version": REPORT_VERSION,
        "command": "anonymize",
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "left_out": [{"measure": name, "why": why} for name, why in sorted(left_out.items())],
        **manifest,
        **parts,
    }


def for_readers(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What goes out with the release: nothing about where it came from."""
    private = ("input", "seed", "runs", "private", "audit")
    policy = {name: part for name, part in manifest["policy"].items() if name not in private}
    policy["output"] = {n: part for n, part in policy["output"].items() if n != "staging"}
    return {name: part for name, part in manifest.items() if name != "input"} | {"policy": policy}


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
