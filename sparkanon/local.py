"""Groups of an array in memory: the same spaces, blocks and groupings, without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from sparkanon import in_memory
from sparkanon.blocks import Leaf, Sample, Tree, fit_tree, rows_of_a_block
from sparkanon.errors import InputError, PolicyError, Problem, counted
from sparkanon.groupings import GROUPINGS, Grouping
from sparkanon.needs import answered
from sparkanon.numeric.records import Column, Floats, Labels, Records, Scale
from sparkanon.registry import Registry, choice, mistakes
from sparkanon.releases.centroid import mean
from sparkanon.spaces import SPACES, FittedSpace, Space
from sparkanon.spaces.base import class_parameters
from sparkanon.spaces.needs import Longs

Config = str | Mapping[str, Any]


def group(
    values: npt.ArrayLike,
    k: int,
    *,
    grouping: Config | Grouping = "refined",
    space: Config | Space = "euclidean",
    classes: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Labels:
    """The group of every record: labels 0, 1, ..., each at least k times.

    Parameters
    ----------
    values : (records, columns) numbers, all finite; an array or a data frame
    grouping, space : a name, a mapping with `name` and parameters as in a policy, or a spec
    classes : (records,) the class of every record, for a space that asks for classes
    seed : of the groupings that draw; the others give the same groups for the same array

    More records than the grouping serves well are cut into blocks, as they are on Spark.
    """
    table, names = _table(values)
    n = len(table)
    if not 2 <= k <= n:
        raise InputError(Problem("k", f"must be 2 to {n}, the number of records. Got {k} instead"))
    who = _spec(GROUPINGS, "grouping", grouping)
    records, how = _records(table, names), _space(space, names, classes is not None)
    held = in_memory.Table(records, k, _numbered(classes, n))
    fitted = how.fit(answered(how.needs(), in_memory.ANSWERS, held))
    tree, labels, first = _tree(records, fitted, who.block_rows, k), np.empty(n, np.int32), 0
    cells = {column.name: column.values for column in records}
    blocks = tree.assign(cells, np.arange(n))
    for block in range(tree.blocks):
        rows = np.flatnonzero(blocks == block)
        points = fitted.points(tuple(column.rows(rows) for column in records)).checked()
        found = who.group(points, k, np.random.default_rng([seed, block]))
        labels[rows] = found + first
        first += int(found.max()) + 1
    return labels


def microaggregate(values: npt.ArrayLike, k: int, **choices: Any) -> Floats:
    """Every record replaced by the mean of its group; `choices` as for `group`."""
    table, _ = _table(values)
    labels = group(values, k, **choices)
    groups = int(labels.max()) + 1
    return np.stack([mean(column, labels, groups)[labels] for column in table.T], axis=1)


def _table(values: npt.ArrayLike) -> tuple[Floats, list[str]]:
    """The numbers and the names of their columns, or what is wrong with them."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(Problem("values", "must be numbers")) from None
    if table.ndim != 2 or 0 in table.shape:
        shape = " x ".join(map(str, table.shape))
        raise InputError(Problem("values", f"must be records x columns. Got {shape} instead"))
    bad = int((~np.isfinite(table)).sum())
    if bad:
        text = f"{counted(bad, 'cell is', 'cells are')} NaN or infinite"
        raise InputError(Problem("values", text))
    names = [str(name) for name in getattr(values, "columns", range(table.shape[1]))]
    if len(set(names)) < len(names):
        raise InputError(Problem("values", "two columns have the same name"))
    return table, names


def _spec(registry: Registry[Any], axis: str, wanted: Any) -> Any:
    try:
        return TypeAdapter(Annotated[Any, *choice(registry)]).validate_python(wanted)
    except ValidationError as error:
        found = [(f"{axis}.{path}".rstrip("."), text) for path, text in mistakes(error)]
        raise PolicyError(Problem(*one) for one in found) from None


def _records(table: Floats, names: list[str]) -> Records:
    none = np.zeros(len(table), np.bool_)
    return tuple(
        Column(name, Scale.NUMERIC, np.ascontiguousarray(values), none)
        for name, values in zip(names, table.T, strict=True)
    )


def _space(space: Config | Space, names: list[str], with_classes: bool) -> Space:
    """The space; a parameter that names the column with the classes is filled in."""
    if isinstance(space, str):
        space = {"name": space}
    if isinstance(space, Mapping):
        kind = SPACES.get(str(space.get("name")))
        space = dict.fromkeys(class_parameters(kind), "classes") | dict(space)
    how: Space = _spec(SPACES, "space", space)
    problems = how.problems(names)
    if with_classes and not _needs_classes(how):
        problems.append(Problem("classes", f"are not used by the space '{how.key}'"))
    if not with_classes and _needs_classes(how):
        problems.append(Problem("classes", f"are needed by the space '{how.key}'"))
    if problems:
        raise InputError(problems)
    return how


def _needs_classes(space: Space) -> bool:
    return any(need.columns for need in space.needs())


def _numbered(classes: npt.ArrayLike | None, n: int) -> Longs:
    """Classes as 0, 1, ...; an empty array where there are none."""
    if classes is None:
        return np.empty(0, np.int64)
    found = np.asarray(classes)
    if found.shape != (n,):
        raise InputError(Problem("classes", f"must be one for each of the {n} records"))
    missing = sum(one is None or one != one for one in found.tolist())  # noqa: PLR0124 (NaN)
    if missing:
        text = f"{counted(missing, 'is', 'are')} missing; leave such records out"
        raise InputError(Problem("classes", text))
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _tree(records: Records, fitted: FittedSpace, block_rows: int, k: int) -> Tree:
    n = len(records[0].values)
    most, floor = rows_of_a_block(block_rows, k)
    if n <= most:
        return Tree(Leaf())
    return fit_tree(Sample(records, {}, np.arange(n)), fitted.units, n, most, floor)
