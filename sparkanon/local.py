"""Groups of an array in memory: the same spaces, blocks and groupings, without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from sparkanon.blocks import Leaf, Sample, Tree, fit_tree, rows_of_a_block
from sparkanon.errors import InputError, PolicyError, Problem
from sparkanon.groupings import GROUPINGS, Grouping
from sparkanon.numeric.records import Column, Floats, Labels, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.registry import Registry, choice, mistakes
from sparkanon.releases.centroid import mean
from sparkanon.spaces import SPACES, Classes, FittedSpace, Space
from sparkanon.spaces.base import SAMPLE_ROWS, classes_problem
from sparkanon.spaces.euclidean import Euclidean

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
    classes : (records,) the class of every record, for a space that is guided by classes
    seed : of the groupings that draw; the others give the same groups for the same array

    More records than the grouping serves well are cut into blocks, as they are on Spark.
    """
    table, names = _table(values)
    n = len(table)
    if not 2 <= k <= n:
        raise InputError(Problem("k", f"must be 2 to {n}, the number of records. Got {k} instead"))
    who = _spec(GROUPINGS, "grouping", grouping)
    statistics, records = _columns(table, names)
    problems = [Problem(f"values.{s.name}", s.problem) for s in statistics if s.problem]
    if problems:
        raise InputError(problems)
    fitted = _fitted(space, statistics, records, classes, k)
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
        raise InputError(Problem("values", f"{bad} cells are NaN or infinite"))
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


def _columns(table: Floats, names: list[str]) -> tuple[list[ColumnStatistics], Records]:
    none = np.zeros(len(table), np.bool_)
    records = tuple(
        Column(name, Scale.NUMERIC, np.ascontiguousarray(values), none)
        for name, values in zip(names, table.T, strict=True)
    )
    return [_statistics(column) for column in records], records


def _statistics(column: Column) -> ColumnStatistics:
    values = column.values
    low, high = float(values.min()), float(values.max())
    mean, sd = low, 0.0  # of a constant, whose sum may overflow
    if low < high:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in words
            mean, sd = float(values.mean()), float(values.std())
    return ColumnStatistics(
        name=column.name,
        scale=column.scale,
        n=len(values),
        nulls=0,
        mean=mean,
        sd=sd,
        low=low,
        high=high,
    )


def _fitted(
    space: Config | Space,
    statistics: list[ColumnStatistics],
    records: Records,
    classes: npt.ArrayLike | None,
    k: int,
) -> FittedSpace:
    if isinstance(space, str):
        space = {"name": space}
    if isinstance(space, Mapping) and _is_guided(space):
        space = {"target": "classes"} | dict(space)  # they have no column to name
    how: Space = _spec(SPACES, "space", space)
    problems = how.problems([column.name for column in records])
    if classes is not None:
        if how.guide() is None:
            problems.append(Problem("classes", f"are not used by the space '{how.key}'"))
    elif how.guide() is not None:
        problems.append(Problem("classes", f"are needed by the space '{how.key}'"))
    if problems:
        raise InputError(problems)
    if classes is None:
        return how.fit(statistics)
    return how.fit(statistics, _told_apart(statistics, records, np.asarray(classes), k))


def _is_guided(space: Mapping[str, Any]) -> bool:
    kind: Any = SPACES.get(str(space.get("name")))
    return any(parameter.name == "target" for parameter in fields(kind))


def _told_apart(
    statistics: list[ColumnStatistics], records: Records, classes: npt.NDArray[Any], k: int
) -> Classes:
    """Counts, means and covariances by class, and some records evenly spread over the array."""
    n = len(records[0].values)
    if classes.shape != (n,):
        raise InputError(Problem("classes", f"must be one for each of the {n} records"))
    missing = sum(one is None or one != one for one in classes.tolist())  # noqa: PLR0124 (NaN)
    if missing:
        raise InputError(Problem("classes", f"{missing} are missing; leave these records out"))
    codes = np.unique(classes, return_inverse=True)[1]
    counts = np.bincount(codes)
    problem = classes_problem(len(counts))
    if problem is not None:
        raise InputError(Problem("classes", problem))
    plain = Euclidean().fit(statistics)
    scores = np.stack([plain.scores(column) for column in records], axis=1)
    means = np.stack([np.bincount(codes, z) / counts for z in scores.T], axis=1)
    apart = scores - means[codes]
    some = np.arange(0, n, max(1, -(-n // SAMPLE_ROWS)))
    return Classes(
        counts=counts.astype(np.float64),
        means=means,
        within=apart.T @ apart / n,
        sample=tuple(column.rows(some) for column in records),
        codes=codes[some].astype(np.int64),
        k=k,
    )


def _tree(records: Records, fitted: FittedSpace, block_rows: int, k: int) -> Tree:
    n = len(records[0].values)
    most, floor = rows_of_a_block(block_rows, k)
    if n <= most:
        return Tree(Leaf())
    return fit_tree(Sample(records, {}, np.arange(n)), fitted.units, n, most, floor)
