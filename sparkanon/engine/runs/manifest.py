"""The manifest of a run: what was done, with which settings and results, and no cell."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sparkanon.catalogue import RISK_GATES
from sparkanon.engine.runs.gates import Gate
from sparkanon.measures import Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.policy import Policy
from sparkanon.public import public
from sparkanon.rng import Seed

_LIBRARIES = ("sparkanon", "pyspark", "delta-spark", "numpy", "numba", "pyarrow", "pydantic")


def make_manifest(
    *,
    run_id: str,
    status: str,
    policy: Policy,
    by_store: Sequence[str],
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
    """The manifest; `seconds` is not copied, so that steps still to come are in it as well."""
    return {
        "run_id": run_id,
        "status": status,
        "policy": policy.to_dict(),
        "policy_hash": policy.digest(),
        "input": source,
        "rows_in": rows_in,
        "rows_out": sizes.records,
        "k": policy.k,
        "promise": _promise(policy, gates),
        "min_class_size": sizes.smallest,
        "class_sizes": sizes.to_dict(),
        "blocks": blocks,
        "fitted": dict(fitted),  # by the space: alpha and number of classes of lda
        "measures": [measure.to_dict() for measure in measures],
        "gates": [asdict(gate) for gate in gates],
        "seconds": seconds,
        "seed_commitment": seed.commitment(run_id),
        # private places on object stores: nothing but the rules of the store keeps others out
        "protected_by_store_only": list(by_store),
        "versions": versions_of(spark_version),
    }


def _promise(policy: Policy, gates: Sequence[Gate]) -> dict[str, Any]:
    """The promise; of a release without one also the gates on risks that were passed."""
    promise = policy.promise
    if promise.guaranteed:
        return promise.to_dict()
    passed = [gate.gate for gate in gates if gate.passed and gate.gate in RISK_GATES]
    return promise.to_dict() | {"gates_passed": passed}


def for_readers(manifest: Mapping[str, Any], released: Sequence[str]) -> dict[str, Any]:
    """What goes out with the release: only what is listed here, and nothing about fewer than k.

    Measures are coarse (`sparkanon.public`). Nothing is said about the source or the seed.
    """
    policy, k, rows = manifest["policy"], manifest["k"], manifest["rows_out"]
    measures = [public(Measure(**one), rows, k) for one in manifest["measures"]]
    roles = policy["columns"]
    return {
        "sparkanon": manifest["versions"].get("sparkanon"),
        "run_id": manifest["run_id"],
        "k": k,
        "rows": rows,  # everybody can count them
        "promise": manifest["promise"],
        "columns": {name: roles.get(name, {"role": "keep"})["role"] for name in released},
        "method": {axis: spec["name"] for axis, spec in policy["method"].items()},
        "measures": [
            {"measure": one.measure, "column": one.column, "value": one.value}
            for one in measures
            if one.value is not None
        ],
        "gates": [{"gate": gate["gate"], "limit": gate["limit"]} for gate in manifest["gates"]],
    }


def versions_of(spark: str) -> dict[str, str]:
    """The versions of sparkanon, of the libraries it uses, and of Spark and Python."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"spark": spark, "python": platform.python_version()}
