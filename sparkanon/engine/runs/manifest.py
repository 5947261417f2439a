"""The manifest of a run: everything that can be told without telling a cell."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sparkanon.engine.runs.gates import Gate
from sparkanon.measures import Measure
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.measures.public import public
from sparkanon.policy import Policy
from sparkanon.report import REPORT_VERSION
from sparkanon.rng import Seed

_LIBRARIES = ("sparkanon", "pyspark", "delta-spark", "numpy", "numba", "pyarrow", "pydantic")


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
        "promise": policy.promise.to_dict(),
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


def for_readers(manifest: Mapping[str, Any], released: Sequence[str]) -> dict[str, Any]:
    """What goes out with the release, a list of what may: nothing about source, seed or few.

    Measures are coarse (`measures.public`). Whatever else the private manifest holds stays there.
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
            if one.value is not None and _goes_out(one)
        ],
        "gates": [{"gate": gate["gate"], "limit": gate["limit"]} for gate in manifest["gates"]],
    }


def _goes_out(one: Measure) -> bool:
    """Of single columns their information loss alone; sizes of groups that do not show, never."""
    return one.measure not in ("min_class_size", "below_k") and (
        one.column is None or one.measure == "il"
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
