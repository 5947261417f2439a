"""What a release must be, found with nothing but pyarrow, numpy and Counter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from leaks import demand
from policies import Plan, blocks_of, declared_of, diverse_enough
from random_tables import Table
from reading import Released, comparable
from values import check_centres, check_limits, check_spans

Rows = list[tuple[Any, ...]]


def rows_of(released: Released, names: Sequence[str]) -> Rows:
    return list(zip(*(map(repr, released.cells(name)) for name in names), strict=True))


def types_of(plan: Plan, table: Table) -> dict[str, pa.DataType]:
    """The type that every published column must have."""
    found = {}
    for quasi in table.quasi:
        found[quasi.name] = table.rows.schema.field(quasi.name).type
        if plan.release == "generalize":
            found[quasi.name] = pa.string()
        elif "as" in declared_of(plan, quasi.name):
            found[quasi.name] = pa.float64()
    for name, role in table.roles.items():
        if role != "identifier":
            found[name] = table.rows.schema.field(name).type
    for name in table.unlisted:
        if plan.policy.get("unlisted") == "keep":
            found[name] = table.rows.schema.field(name).type
    return found


def check_rows(plan: Plan, table: Table, released: Released) -> None:
    """Columns, types, the number of rows, and what travels untouched."""
    types = types_of(plan, table)
    demand(set(released.rows.column_names) == set(types), "other columns are published")
    part = table.taking_part(plan.policy["nulls"])
    demand(released.rows.num_rows == part.rows.num_rows, "rows are missing or new")
    if released.exact:
        for name, wanted in types.items():
            found = released.rows.schema.field(name).type
            demand(_same_type(found, wanted), f"'{name}' has changed its type")
    kept = [name for name in types if name not in {q.name for q in table.quasi}]
    for name in kept if released.exact else [n for n in kept if n in ("tag", "ill")]:
        cells = comparable(part.rows.column(name))
        if not released.exact:
            cells = [str(cell) for cell in cells]
        demand(
            Counter(map(repr, cells)) == Counter(map(repr, released.cells(name))),
            f"'{name}', which travels, has other cells",
        )
    if table.tagged and released.rows.num_rows >= 12:
        order = [int(tag) for tag in released.cells("tag")]
        demand(order != comparable(part.rows.column("tag")), "rows stand in the input's order")


def _same_type(one: pa.DataType, other: pa.DataType) -> bool:
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return True  # Spark reads both kinds from Parquet and writes nanoseconds without a zone
    return str(one).replace("element", "item") == str(other).replace("element", "item")


def check_classes(plan: Plan, table: Table, released: Released) -> int:
    """k and the constraints where equal rows show them; returns the smallest class."""
    names = [q.name for q in table.quasi]
    rows = rows_of(released, names)
    sizes = Counter(rows)
    demand(min(sizes.values()) >= plan.k, "a class is smaller than k")
    rules = plan.policy.get("constraints")
    if rules:
        check_rules(rules, rows, released.cells("ill"))
    return min(sizes.values())


def check_rules(rules: dict[str, Any], classes: Sequence[Any], ill: Sequence[Any]) -> None:
    """l-diversity and t-closeness of every class."""
    held: dict[Any, Counter[Any]] = defaultdict(Counter)
    for cls, value in zip(classes, ill, strict=True):
        held[cls][value] += 1
    diverse = rules.get("l_diversity")
    if diverse is not None:
        rule = diverse if isinstance(diverse, dict) else {"l": diverse, "kind": "distinct"}
        holds = all(diverse_enough(counts, rule) for counts in held.values())
        demand(holds, "a class is not diverse enough")
    if "t_closeness" in rules:
        values = sorted({int(value) for value in ill})
        whole = _shares(Counter(map(int, ill)), values)
        for counts in held.values():
            mine = _shares(Counter({int(v): n for v, n in counts.items()}), values)
            moved = np.abs(np.cumsum(mine - whole)).sum() / max(len(values) - 1, 1)
            demand(moved <= rules["t_closeness"] + 1e-9, "a class is not close enough")


def _shares(counts: Counter[int], values: list[int]) -> np.ndarray:
    sizes = np.array([counts[value] for value in values], float)
    return sizes / sizes.sum()


def check_values(plan: Plan, table: Table, released: Released) -> None:
    """Whether the published values are those of the records behind them.

    A column that travels and says which row is which identifies people.
    """
    part = table.taking_part(plan.policy["nulls"])
    imputed = {
        q.name for q in table.quasi if plan.policy["nulls"] == "impute" and table.has_nulls(q.name)
    }
    if plan.release == "permute" and released.exact:
        for block in blocks_of(plan, table):
            names = [name for name in block if name not in imputed]
            before = zip(*(map(repr, comparable(part.clean(n))) for n in names), strict=True)
            same = not names or Counter(before) == Counter(rows_of(released, names))
            demand(same, "permute published tuples that nobody has")
    if plan.release == "top_bottom" and released.exact:
        for quasi in table.quasi:
            if quasi.name not in imputed:
                originals = comparable(part.clean(quasi.name))
                check_limits(plan, quasi, originals, released.cells(quasi.name))
    if not (table.tagged and plan.has_classes):
        return
    places = {int(tag): i for i, tag in enumerate(released.cells("tag"))}
    to = np.array([places[tag] for tag in part.rows.column("tag").to_pylist()])
    rows = rows_of(released, [q.name for q in table.quasi])
    groups: dict[Any, list[int]] = defaultdict(list)
    for i, at in enumerate(to):
        groups[rows[at]].append(i)
    for quasi in table.quasi:
        if quasi.name in imputed:
            continue
        originals = comparable(part.clean(quasi.name))
        shown = [released.cells(quasi.name)[i] for i in to]
        classes = list(groups.values())
        arrow = part.rows.schema.field(quasi.name).type
        if plan.release == "generalize":
            check_spans(plan, quasi, arrow, originals, shown, classes)
        elif released.exact:
            weighted = "weight" in table.roles.values()
            check_centres(quasi, arrow, originals, shown, classes, weighted=weighted)
