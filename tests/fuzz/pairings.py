"""What the private pairing shows: the groups that values were drawn from, or made from."""

from __future__ import annotations

import stat
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from checks import check_rules, rows_of
from leaks import demand
from policies import Plan, blocks_of
from random_tables import Table
from reading import Released, comparable

APART = 1e-4  # of the size of the values: closer ones may meet by rounding


def check_pairing(plan: Plan, table: Table, released: Released, place: Path) -> None:
    """Groups of k at least, each with its own values; the rows are those of both tables."""
    for path in (place, *place.iterdir()):
        others = stat.S_IMODE(path.stat().st_mode) & 0o077
        demand(not others, "others may read the pairing")
    parts = [pq.ParquetFile(path).read() for path in sorted(place.glob("part-*"))]
    pairs = pa.concat_tables(parts)
    cells = {name: comparable(pairs.column(name)) for name in pairs.column_names}
    names = [q.name for q in table.quasi]
    if released.exact:
        kept = zip(*(map(repr, cells[f"z{i}"]) for i in range(len(names))), strict=True)
        demand(Counter(kept) == Counter(rows_of(released, names)), "the pairing has other rows")
    part = table.taking_part(plan.policy["nulls"])
    for i, name in enumerate(names):
        if plan.policy["nulls"] == "impute" and table.has_nulls(name):
            continue
        before = Counter(map(repr, _plain(cells[f"x{i}"])))
        originals = comparable(part.clean(name))
        if plan.release == "generalize" and table.quasi[i].scale == "nominal":
            continue  # kept as the text that they are published as
        demand(before == Counter(map(repr, originals)), "the pairing has other originals")
    if plan.draws:
        _check_groups(plan, table, cells)


def _plain(cells: list[Any]) -> list[Any]:
    return [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in cells]


def _check_groups(plan: Plan, table: Table, cells: dict[str, list[Any]]) -> None:
    groups: dict[Any, list[int]] = defaultdict(list)
    for row, group in enumerate(cells["g"]):
        groups[group].append(row)
    demand(min(map(len, groups.values())) >= plan.k, "a group is smaller than k")
    if rules := plan.policy.get("constraints"):
        check_rules(rules, cells["g"], cells["s0"])
    names = [q.name for q in table.quasi]
    if plan.release == "permute":
        for block in blocks_of(plan, table):
            places = [names.index(name) for name in block]
            for rows in groups.values():
                before, after = (
                    Counter(tuple(repr(cells[f"{side}{i}"][row]) for i in places) for row in rows)
                    for side in "xz"
                )
                demand(before == after, "a group has values that are not its own")
        return
    for i, quasi in enumerate(table.quasi):
        if not pa.types.is_float64(table.rows.schema.field(quasi.name).type):
            continue  # rounding may give an original back
        for rows in groups.values():
            before, after = ([cells[f"{s}{i}"][row] for row in rows] for s in "xz")
            _check_made(before, after)


def _check_made(before: list[Any], after: list[Any]) -> None:
    """Synthetic values have the mean of their group, and are nobody's own."""
    if None in before or None in after:
        return
    x, z = np.array(before), np.array(after)
    size = float(np.abs(x).max())
    demand(bool(abs(x.mean() - z.mean()) <= 1e-6 * size), "hybrid does not keep a mean")
    if np.ptp(x) > APART * size and len(set(before)) > 2:
        demand(not set(before) & set(after), "hybrid published an original")
