"""Policies at random for a table, with the reasons why one must be refused, or may be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from random_tables import PLAIN_TOWNS, TREE, Rng, Table

from sparkanon.catalogue import CATALOGUE

MEASURES = sorted(CATALOGUE)
SEED = "FUZZ_SEED"
RISKS = {"min_k", "max_uniqueness", "max_linkage_masked_to_original", "min_min_class_size"}
# of each grouping some seconds are spent on loading its kernels, so a run has a few of them
QUICK = ("vmdav", "cbfs", "mondrian", "tfrp", "tfrp2", "ip", "md", "mu_approx", "mst", "dba2")
NO_MEANS = ("permute", "generalize", "top_bottom")
ENDS = {"low": -50, "high": 60}  # of top_bottom, where the policy states them


@dataclass
class Plan:
    """A policy, and what is known about its fate before it runs."""

    policy: dict[str, Any]
    must: set[str] = field(default_factory=set)  # reasons to refuse it
    may: set[str] = field(default_factory=set)  # reasons that could be one

    @property
    def release(self) -> str:
        chosen = self.policy["method"]["release"]
        return str(chosen["name"] if isinstance(chosen, dict) else chosen)

    @property
    def k(self) -> int:
        """0 where the release makes no groups."""
        return int(self.policy.get("k", 0))

    @property
    def format(self) -> str | None:
        return self.policy["output"]["format"] if "output" in self.policy else None

    @property
    def draws(self) -> bool:
        """Whether values come from groups that do not show."""
        return self.release in ("permute", "hybrid")

    @property
    def has_classes(self) -> bool:
        """Whether equal rows make the classes of k that are promised."""
        return self.release in ("centroid", "generalize")

    def changed(self, **changes: Any) -> Plan:
        return replace(self, policy=self.policy | changes)


def groupings_of(seed: int) -> tuple[str, ...]:
    """The groupings of a run, by its seed."""
    others = np.random.default_rng([seed, 77]).choice(QUICK, 2, replace=False)
    return ("refined", "mdav", *map(str, others))


def a_plan(rng: Rng, table: Table, folder: Path, groupings: tuple[str, ...], delta: bool) -> Plan:
    nominal = any(q.scale == "nominal" for q in table.quasi)
    ordinal = any(q.scale == "ordinal" for q in table.quasi)
    unfit = rng.random() < 0.03  # with a space or a release that does not take the table
    spaces = ["gower"] if nominal and not unfit else ["euclidean", "gower", "lda"]
    releases = ["centroid"] * 4 + ["generalize", "permute"] * 2
    releases += ["hybrid"] * (3 if not (nominal or ordinal) else int(unfit))
    releases += ["top_bottom"] * (1 if not nominal else int(unfit))
    space: Any = str(rng.choice(spaces))
    if space == "lda":
        space = {"name": "lda", "target": "ill", "alpha": float(rng.choice([1, 4]))}
    release = str(rng.choice(releases))
    k = int(rng.choice([2, 3, 4, 5, 9], p=(0.1, 0.3, 0.2, 0.25, 0.15)))
    policy: dict[str, Any] = {
        "columns": _columns(table, release, unfit),
        "k": k,
        "nulls": str(
            rng.choice(["own_category", "impute", "drop_row", "reject"], p=(0.4, 0.25, 0.25, 0.1))
        ),
        "method": {
            "space": space,
            "grouping": str(rng.choice(groupings)),
            "release": _release(rng, release, table),
        },
        "seed": {"env": SEED},
        "runs": str(folder / "runs"),
    }
    if table.unlisted:
        policy["unlisted"] = str(rng.choice(["drop", "keep", "error"], p=(0.45, 0.45, 0.1)))
    _outlet(rng, policy, table, folder, delta)
    _asked(rng, policy, table, folder)
    if release == "top_bottom":
        _without_groups(rng, policy)
    plan = Plan(policy)
    _foresee(plan, table)
    return plan


def _without_groups(rng: Rng, policy: dict[str, Any]) -> None:
    """Nothing is guaranteed, so a gate has to decide; k and groups are of no use."""
    for unused in ("k", "constraints", "audit"):
        policy.pop(unused, None)
    policy["method"].pop("grouping")
    if isinstance(policy["method"]["space"], dict):
        policy["method"]["space"] = "gower"
    if "min_k" in policy.get("gates", {}) or rng.random() < 0.9:
        policy["gates"] = [{"max_uniqueness": 1.0}, {"min_k": 1}][int(rng.integers(2))]


def _columns(table: Table, release: str, unfit: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for one in table.quasi:
        declared = dict(one.declared)
        if release in NO_MEANS and not unfit:
            declared.pop("as", None)
        quasi = {"role": "quasi_identifier"} | declared
        columns[one.name] = quasi if declared else "quasi_identifier"
    return columns | table.roles


def _release(rng: Rng, name: str, table: Table) -> Any:
    if name == "permute" and rng.random() < 0.6:
        names = [q.name for q in table.quasi]
        cut = int(rng.integers(1, len(names) + 1))
        chosen: dict[str, Any] = {"name": name, "redraw": bool(rng.random() < 0.3)}
        return chosen | ({"blocks": [names[:cut]]} if rng.random() < 0.5 else {})
    if name == "top_bottom":
        whole = [q.name for q in table.quasi if q.kind in ("byte", "short", "double")]
        stated = {n: ENDS for n in whole if rng.random() < 0.4}
        share = {"share": float(rng.choice([0.0625, 0.25]))}
        share = share if len(stated) < len(table.quasi) else {}
        return {"name": name, "limits": stated} | share
    if name == "generalize" and rng.random() < 0.6:
        trees = {q.name: TREE for q in table.quasi if q.kind == "village"}
        return {"name": name, "taxonomies": trees} if trees else name
    return name


def _outlet(rng: Rng, policy: dict[str, Any], table: Table, folder: Path, delta: bool) -> None:
    """Where the release goes."""
    form = str(
        rng.choice(["parquet", "csv", "delta", "table", ""], p=(0.68, 0.18, 0.02, 0.03, 0.09))
    )
    if not form:
        return
    if form == "delta" and not delta:
        form = "parquet"
    place = (
        {"name": f"fuzz_{folder.name}"} if form == "table" else {"path": str(folder / "release")}
    )
    policy["output"] = {"format": form, **place}
    plain = [
        q.name
        for q in table.quasi
        if q.plain_names and policy["method"]["release"] != "generalize"
    ]
    plain += ["ill"] if pa.types.is_integer(table.rows.column("ill").type) else []
    if form in ("parquet", "csv") and plain and rng.random() < 0.15:
        policy["output"]["partition_by"] = [str(rng.choice(plain))]


def _asked(rng: Rng, policy: dict[str, Any], table: Table, folder: Path) -> None:
    """Gates, constraints, measures and the pairing."""
    sensitive = table.roles["ill"] == "sensitive"
    if rng.random() < (0.18 if sensitive else 0.02):
        numbers = pa.types.is_integer(table.rows.column("ill").type)
        rules: list[dict[str, Any]] = [
            {"l_diversity": 2},
            {"l_diversity": {"l": 3, "kind": "distinct"}},
            {"l_diversity": {"l": 1.5, "kind": "entropy"}},
            {"l_diversity": {"l": 2, "kind": "recursive", "c": 3}},
        ]
        rules += [{"t_closeness": 0.4}, {"l_diversity": 2, "t_closeness": 0.3}] if numbers else []
        policy["constraints"] = rules[int(rng.integers(len(rules)))]
    if rng.random() < 0.15:
        gates: list[dict[str, float]] = [
            {"min_k": policy["k"]},
            {"max_il": 1e9},
            {"max_il": float(rng.choice([0.0, 5.0, 40.0]))},
            {"max_linkage_masked_to_original": 1.0},
            {"min_min_class_size": table.rows.num_rows + 1},
        ]
        policy["gates"] = gates[int(rng.integers(len(gates)))]
    audit: dict[str, Any] = {}
    if rng.random() < 0.7:  # what audits take; all of them cost as much as ten releases
        audit["take"] = ["min_class_size", *map(str, rng.choice(MEASURES, 2, replace=False))]
        if rng.random() < 0.85:
            audit["take"] = ["min_class_size", "il"]
    elif rng.random() < 0.05:
        audit["take"] = "all"
    if rng.random() < 0.03:
        audit["table"] = {"path": str(folder / "measures")}
    if audit:
        policy["audit"] = audit
    if "output" in policy and rng.random() < 0.3:
        policy["private"] = {"path": str(folder / "private")}
    if rng.random() < 0.01:
        policy["seed"] = {"env": "FUZZ_WEAK_SEED"}


def _foresee(plan: Plan, table: Table) -> None:
    """What the table and the policy say together, worked out here on its own."""
    policy, must, may = plan.policy, plan.must, plan.may
    nulls, part = policy["nulls"], table.taking_part(policy["nulls"])
    rows = part.rows.num_rows
    must |= table.flaws - {"infinite", "weight"}
    if "weight" in table.flaws and not _are_weights(part.rows.column("w").to_numpy()):
        must.add("weight")
    must |= {"weak seed"} if policy["seed"]["env"] != SEED else set()
    may |= table.doubts
    if "infinite" in table.flaws and nulls != "drop_row":
        must.add("infinite")
    if nulls == "reject" and any(table.has_nulls(q.name) for q in table.quasi):
        must.add("nulls")
    if rows < max(plan.k, 1):
        must.add("few rows")
    if policy.get("unlisted") == "error":
        must.add("unlisted")
    _foresee_method(plan, table, part)
    _foresee_rules(plan, table, part)
    nested = [name for name in ("list", "pack", "blob") if name in table.roles]
    if plan.format == "csv" and nested:
        must.add("csv")
    by = policy.get("output", {}).get("partition_by", [])
    if by and table.roles.get(by[0]) == "identifier":
        must.add("partition_by")
    published = [n for n in policy["columns"] if policy["columns"][n] != "identifier"]
    kept = [*published, *(table.unlisted if policy.get("unlisted") == "keep" else ())]
    if by and set(by) >= set(kept):
        must.add("partition_by")
    if plan.format == "csv" and len(set(kept) - set(by)) == 1:
        plan.may.add("empty lines")  # where the only column has nulls
    if policy.get("gates", {}).get("min_min_class_size"):
        must.add("gate")
    if "max_il" in policy.get("gates", {}):
        may.add("gate")  # it has no value where all columns are constant
    if "max_linkage_masked_to_original" in policy.get("gates", {}):
        may.add("gate")  # an interval's end is rounded, or all columns are constant


def _are_weights(cells: np.ndarray) -> bool:
    """Of the rows that take part; the one with a wrong weight may have been dropped."""
    return bool(np.isfinite(cells).all() and (cells >= 0).all())


def _foresee_method(plan: Plan, table: Table, part: Table) -> None:
    policy, must = plan.policy, plan.must
    space = policy["method"]["space"]
    lda = isinstance(space, dict)
    scales = {q.scale for q in table.quasi}
    if "nominal" in scales and (lda or space == "euclidean"):
        must.add("scale")
    if plan.release == "hybrid" and scales - {"numeric"}:
        must.add("scale")
    if plan.release == "hybrid" and plan.k < 4:
        must.add("hybrid k")
    if plan.release == "top_bottom":
        if "nominal" in scales:
            must.add("scale")
        if not plan.policy.get("gates", {}).keys() & RISKS:
            must.add("no gate")
    if plan.release == "permute":
        plan.may.add("nothing torn")  # where all records of every group are alike
    if lda:
        classes = len(set(part.rows.column("ill").to_pylist()))
        if table.roles["ill"] == "identifier" or not 2 <= classes <= 100:
            must.add("classes")
    if plan.release in NO_MEANS and any("as" in declared_of(plan, q.name) for q in table.quasi):
        must.add("as")
    others = set(table.roles.values()) - {"identifier"} or policy.get("unlisted") == "keep"
    if plan.release == "permute" and not others and len(blocks_of(plan, table)) == 1:
        must.add("one block")
    if isinstance(policy["method"]["release"], dict):
        trees = policy["method"]["release"].get("taxonomies", {})
        for name in trees:
            if set(table.clean(name).to_pylist()) - {None, *PLAIN_TOWNS}:
                must.add("taxonomy")


def _foresee_rules(plan: Plan, table: Table, part: Table) -> None:
    rules = plan.policy.get("constraints", {})
    if rules and table.roles["ill"] != "sensitive":
        plan.must.add("not sensitive")
    diverse = rules.get("l_diversity")
    if diverse is None:
        return
    least = diverse["l"] if isinstance(diverse, dict) else diverse
    different = len(set(part.rows.column("ill").to_pylist()))
    if different < least:
        plan.must.add("uniform")
    elif isinstance(diverse, dict) and diverse["kind"] != "distinct":
        counts = Counter(part.rows.column("ill").to_pylist())
        if not diverse_enough(counts, diverse):
            plan.must.add("uniform")


def diverse_enough(counts: Counter[Any], rule: dict[str, Any]) -> bool:
    """Whether the sensitive values of a class are as diverse as the rule says."""
    sizes = np.sort(np.array(list(counts.values()), float))[::-1]
    if rule["kind"] == "distinct":
        return len(sizes) >= rule["l"]
    if rule["kind"] == "entropy":
        shares = sizes / sizes.sum()
        return float(np.exp(-(shares * np.log(shares)).sum())) >= rule["l"] - 1e-9
    return bool(sizes[0] < rule["c"] * sizes[int(rule["l"]) - 1 :].sum())


def declared_of(plan: Plan, name: str) -> dict[str, Any]:
    """What the policy says about a column besides its role."""
    one = plan.policy["columns"][name]
    return one if isinstance(one, dict) else {}


def blocks_of(plan: Plan, table: Table) -> list[list[str]]:
    """The blocks of columns that `permute` moves, as docs/policy.md says."""
    names = [q.name for q in table.quasi]
    chosen = plan.policy["method"]["release"]
    blocks = chosen.get("blocks", []) if isinstance(chosen, dict) else []
    if blocks:
        rest = [n for n in names if n not in blocks[0]]
        return [*blocks, *([rest] if rest else [])]
    if len(names) <= 3:
        return [part for part in (names[:-1], names[-1:]) if part]
    made = [names[i : i + 2] for i in range(0, len(names) - 1, 2)]
    return [*made[:-1], names[2 * len(made) - 2 :]]
