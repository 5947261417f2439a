"""Many policies on one table: the risk-utility map."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from sparkanon.catalogue import CATALOGUE, about
from sparkanon.engine import pipeline
from sparkanon.engine.audit.measure import asked_by_anonymize
from sparkanon.engine.runs.ids import new_run_id
from sparkanon.engine.runs.steps import Steps, Watcher
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.session.session import session_of
from sparkanon.engine.stores.place import Place
from sparkanon.engine.sweep.kept import Kept
from sparkanon.engine.sweep.outcomes import ONE_IN_CLASS, Outcome, Sweep, chart, result_table
from sparkanon.engine.table import tables
from sparkanon.errors import InputError, Problem, SparkanonError, counted
from sparkanon.measures import Measure
from sparkanon.policy import Policy
from sparkanon.policy.grid import Cell
from sparkanon.public import public
from sparkanon.registry import unknown
from sparkanon.report.run_report import RunReport

_LIMIT = "the limit is not kept"


def sweep(
    df: DataFrame | None,
    policy: Policy,
    cells: Sequence[Cell],
    folder: str | os.PathLike[str],
    *,
    x: str = "il",
    y: str | None = None,
    watcher: Watcher | None = None,
    run_id: str | None = None,
    spark: SparkSession | None = None,
) -> Sweep:
    """Run every cell as a dry run on the same table, which is read once; publish nothing.

    Cells measured before on the same table, with the same policy and seed, are taken from
    `folder`; delete `folder`/cells/<policy digest>.json, or all of them, to run them again. Errors
    are not kept: what caused them may have been mended. `sweep.json` and `sweep.csv` are
    rewritten after every cell, `sweep.svg` is drawn at the end. Without a seed in the policy
    every cell draws its own, so methods with draws (permute) vary a little from run to run.

    Parameters
    ----------
    df : the table; None reads the policy's `input`
    cells : from `sparkanon.policy.grid.make_cells`, so all of them are checked
    x, y : the measures of loss and risk for the Pareto front, lower is better; by default y is
        the linkage risk where it was measured, otherwise one over the smallest class

    Raises
    ------
    InputError : the table cannot be read at all. A table that one cell cannot take (k above the
        number of rows, say) is that cell's result.
    """
    check_axes(x, y)
    session = session_of(spark, df)
    to = locate(session, os.fspath(folder), "--out")
    if to.is_there() and not to.is_dir():
        raise InputError(Problem("--out", f"{to} is no folder"))
    steps, kept = Steps(watcher), Kept(to / "cells")
    outcomes = [Outcome(cell) for cell in cells]
    result = Sweep(run_id or new_run_id(), tuple(outcomes), x, y)
    with contextlib.ExitStack() as stack:
        with steps.step("read"):
            data = stack.enter_context(_table(session, df, policy))
            steps.note(counted(kept.open(data), "row"))
        for i, cell in enumerate(cells):
            with steps.step(f"cell {i + 1}/{len(cells)}: {cell.label}"):
                outcomes[i] = _found(cell, kept) or _run(session, data, cell, kept)
                result = replace(result, outcomes=tuple(outcomes))
                steps.note(_spoken(outcomes[i], result))
                _write(result, to)
    (to / "sweep.svg").replace_text(chart(result), shown=True)
    (to / "report.json").replace_text(_report(result, policy, steps).to_json(), shown=True)
    return result


def _report(result: Sweep, policy: Policy, steps: Steps) -> RunReport:
    content = result.to_dict()
    for cell, outcome in zip(content["cells"], result.outcomes, strict=True):
        cell["measures"][result.y] = outcome.value(result.y)
    return RunReport(
        command="sweep",
        run_id=result.run_id,
        status=result.status,
        policy=policy.to_dict(),
        policy_hash=policy.digest(),
        k=policy.k,
        parts={"sweep": {name: content[name] for name in ("x", "y", "cells")}},
        seconds=steps.seconds,
    )


def asking_for(policy: Policy, *names: str | None) -> Policy:
    """The policy that also takes these measures, so that its cells can be compared by them."""
    missing = {name for name in CATALOGUE if name in names} - asked_by_anonymize(policy)
    if not missing:
        return policy
    listed = policy.audit.take if isinstance(policy.audit.take, list) else []
    taken = policy.audit.model_copy(update={"take": [*listed, *sorted(missing)]})
    return policy.model_copy(update={"audit": taken})


def check_axes(x: str, y: str | None) -> None:
    """Whether the two measures exist and are better when lower."""
    known = (*CATALOGUE, ONE_IN_CLASS)
    problems = []
    for option, name in (("--x", x), ("--y", y)):
        described = None if name is None else about(name)
        if described is not None and described.better == "higher":
            text = f"lower must be better, and {name} is not; {ONE_IN_CLASS} is"
            problems.append(Problem(option, text))
        elif name is not None and name not in known:
            problems.append(Problem(option, unknown("measure", name, known).message))
    if problems:
        raise InputError(problems)


@contextlib.contextmanager
def _table(spark: SparkSession, df: DataFrame | None, policy: Policy) -> Iterator[DataFrame]:
    """The table, held by Spark until all cells are done; a caller's own cache is left alone."""
    # nothing is published, so no text has to stay as written: cells may count values of any column
    unpublished = policy.model_copy(update={"output": None})
    df = tables.given_or_read(spark, df, unpublished).data
    level = df.storageLevel
    ours = not (level.useMemory or level.useDisk)
    if ours:
        df.persist()
    try:
        yield df
    except Exception as error:
        if tables.is_unreadable(error):
            raise tables.unreadable(policy.input) from None
        raise
    finally:
        if ours:
            df.unpersist()


def _run(spark: SparkSession, data: DataFrame, cell: Cell, kept: Kept) -> Outcome:
    try:
        release = pipeline.anonymize(data, cell.policy, dry_run=True, spark=spark)
    except pipeline.RefusedError as refused:
        release = refused.release
    except SparkanonError as error:
        return Outcome(cell, "error", problems=error.problems)
    found = {
        "status": "refused" if release.status == "refused" else "ok",
        "seconds": round(sum(release.manifest["seconds"].values()), 3),
        "measures": {m.measure: m.value for m in _public(release) if m.column is None},
        "problems": [asdict(Problem(f"gates.{g.gate}", _LIMIT)) for g in _failed(release)],
    }
    kept.keep(cell.policy, found)
    return _outcome(cell, found)


def _found(cell: Cell, kept: Kept) -> Outcome | None:
    found = kept.find(cell.policy)
    return None if found is None else replace(_outcome(cell, found), kept=True)


def _outcome(cell: Cell, found: Mapping[str, Any]) -> Outcome:
    problems = tuple(Problem(**problem) for problem in found["problems"])
    return Outcome(cell, found["status"], found["seconds"], found["measures"], problems)


def _failed(release: pipeline.Release) -> list[Any]:
    return [gate for gate in release.gates if not gate.passed]


def _public(release: pipeline.Release) -> list[Measure]:
    """Measures as coarse as those that go out with a release, because a map is shown around."""
    manifest = release.manifest
    return [public(one, manifest["rows_out"], manifest["k"]) for one in release.measures]


def _spoken(outcome: Outcome, result: Sweep) -> str:
    if outcome.status == "error":
        return f"error: {outcome.problems[0]}"
    values = ((name, outcome.value(name)) for name in (result.x, result.y))
    parts = [f"{name} {value:.4g}" for name, value in values if value is not None]
    parts += ["refused"] if outcome.status == "refused" else []
    parts += ["from an earlier run"] if outcome.kept else []
    return ", ".join(parts)


def _write(result: Sweep, folder: Place) -> None:
    content = result.to_dict()
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / "sweep.json").replace_text(text, shown=True)
    (folder / "sweep.csv").replace_text(result_table(content["cells"]), shown=True)
