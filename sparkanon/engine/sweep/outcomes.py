"""What became of the cells of a sweep: as values, as JSON, as a table."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparkanon.catalogue import CATALOGUE
from sparkanon.errors import Problem
from sparkanon.measures.pareto import pareto_front
from sparkanon.policy.grid import Cell
from sparkanon.report.counts import without_counts
from sparkanon.report.sweep_chart import Spot, draw

LINKAGE = "linkage_masked_to_original"
ONE_IN_CLASS = "1/min_class_size"  # the chance of a guess inside the smallest class
_MEASURED = ("ok", "refused")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one cell.

    `status` is ok, refused (by a gate, but measured), error (see `problems`) or pending.
    """

    cell: Cell
    status: str = "pending"
    seconds: float | None = None
    measures: Mapping[str, float | None] = field(default_factory=dict)  # of the whole table
    problems: tuple[Problem, ...] = ()
    kept: bool = False  # from an earlier run

    def value(self, measure: str) -> float | None:
        if measure != ONE_IN_CLASS:
            return self.measures.get(measure)
        smallest = self.measures.get("min_class_size")
        return 1.0 / smallest if smallest else None


@dataclass(frozen=True)
class Sweep:
    """All cells, in the order of the grid, and the two measures they are compared by."""

    run_id: str
    outcomes: tuple[Outcome, ...]
    x: str
    asked_y: str | None = None

    @property
    def y(self) -> str:
        """The linkage risk where it was measured, otherwise one over the smallest class."""
        linked = any(outcome.value(LINKAGE) is not None for outcome in self.outcomes)
        return self.asked_y or (LINKAGE if linked else ONE_IN_CLASS)

    @property
    def points(self) -> tuple[tuple[float, float] | None, ...]:
        """(loss, risk) of every cell; None where one of them is missing."""
        pairs = ((outcome.value(self.x), outcome.value(self.y)) for outcome in self.outcomes)
        return tuple((x, y) if x is not None and y is not None else None for x, y in pairs)

    @property
    def front(self) -> tuple[bool, ...]:
        """Which cells no other beats; refused cells take part, because they were measured."""
        return pareto_front(self.points)

    @property
    def status(self) -> str:
        """running, ok, or error when not one cell could be measured."""
        found = {outcome.status for outcome in self.outcomes}
        if "pending" in found:
            return "running"
        return "ok" if found & set(_MEASURED) else "error"

    def to_dict(self) -> dict[str, Any]:
        few = min((outcome.cell.policy.few for outcome in self.outcomes), default=0)
        cells = [_row(o, f, few) for o, f in zip(self.outcomes, self.front, strict=True)]
        return {
            "status": self.status,
            "run_id": self.run_id,
            "x": self.x,
            "y": self.y,
            "cells": cells,
            "pareto": [row["label"] for row in cells if row["pareto"]],
        }


def _row(outcome: Outcome, front: bool, few: int) -> dict[str, Any]:
    """A cell as a JSON object, which is shown around."""
    cell, method = outcome.cell, outcome.cell.policy.method
    return {
        "label": cell.label,
        "k": cell.policy.k,
        "space": method.space.key,
        "grouping": None if method.grouping is None else method.grouping.key,
        "release": method.release.key,
        "varied": {path: _plain(value) for path, value in cell.varied.items()},
        "status": outcome.status,
        "seconds": outcome.seconds,
        "kept": outcome.kept,
        "pareto": front,
        "measures": dict(outcome.measures),
        "errors": [_coarse(problem, few) for problem in outcome.problems],
        "policy_hash": cell.policy.digest(),
    }


def _coarse(problem: Problem, few: int) -> dict[str, str]:
    """The problem without a count of fewer than so many records; its cell run alone says it."""
    return {"path": problem.path, "message": without_counts(problem.message, few)}


def _plain(value: Any) -> Any:
    """The value as JSON can hold it, which has no infinity."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def result_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The result table: one line a cell, one column a varied parameter and a measure."""
    varied, measures = (
        list(dict.fromkeys(name for row in rows for name in row[part]))
        for part in ("varied", "measures")
    )
    plain = ("label", "k", "space", "grouping", "release")
    state = ("status", "seconds", "pareto")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*plain, *varied, *state, *measures])
    for row in rows:
        parts = (
            [row[name] for name in plain],
            [_flat(row["varied"].get(name)) for name in varied],
            [_flat(row[name]) for name in state],
            [row["measures"].get(name) for name in measures],
        )
        table.writerow([cell for part in parts for cell in part])
    return text.getvalue()


def _flat(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | list | dict) else value


def chart(result: Sweep) -> str:
    """The map of all cells that have both measures."""
    placed = zip(result.outcomes, result.points, result.front, strict=True)
    spots = [
        Spot(o.cell.method, o.cell.settings, *point, front=front, refused=o.status == "refused")
        for o, point, front in placed
        if point is not None
    ]
    return draw(spots, x_title=axis_title(result.x), y_title=axis_title(result.y))


def axis_title(measure: str) -> str:
    """What an axis of the map says: the measure's own title, and its key."""
    if measure == ONE_IN_CLASS:
        return f"risk: one over the smallest class ({ONE_IN_CLASS})"
    word = CATALOGUE[measure]
    title = f"risk: {word.title.lower()}" if word.is_risk else word.title.lower()
    return f"{title}{', %' if word.unit == 'percent' else ''} ({measure})"
