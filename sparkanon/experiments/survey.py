"""SURVEY tables 5-7: the information loss of every grouping on the three reference sets.

Each figure is a dry run of `anonymize`, a cell of a sweep, so a run that was stopped goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sparkanon.engine.runs.steps import Watcher
from sparkanon.engine.sweep.sweep import sweep
from sparkanon.experiments.data import check_files
from sparkanon.experiments.plots import Panel, by_method, draw
from sparkanon.experiments.survey_figures import DIFFERENT, EXACT_MDAV, KS, LOWER, PUBLISHED
from sparkanon.groupings import GROUPINGS
from sparkanon.policy import make_policy
from sparkanon.policy.grid import make_cells, read_grid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA_SETS = {"tarragona": 5, "census": 6, "eia": 7}  # and their tables
NO_QUASI_IDENTIFIERS = ("UTILNAME", "STATE", "YEAR", "MONTH")  # of EIA; 11 columns are left
HIGH = "refined, effort high"
NEAR = 5.0  # per cent from the published figure that need no explanation


def run(data: Path, out: Path, spark: SparkSession, watch: Watcher | None = None) -> list[Path]:
    """Write survey.csv, survey.png and survey.md into `out`; `data` holds the reference sets."""
    check_files(data, (f"{name}.csv" for name in DATA_SETS))
    rows = pd.concat([measured(name, data, out, spark, watch) for name in DATA_SETS])
    paths = [out / f"survey.{ending}" for ending in ("csv", "png", "md")]
    rows.to_csv(paths[0], index=False)
    draw(panels(rows), paths[1], columns=3)
    paths[2].write_text(page(rows), encoding="utf-8")
    return paths


def measured(
    name: str, data: Path, out: Path, spark: SparkSession, watch: Watcher | None
) -> pd.DataFrame:
    """A row for each grouping and k of one data set."""
    path = data / f"{name}.csv"
    quasi = {"role": "quasi_identifier", "as": "double"}
    header = pd.read_csv(path, nrows=0).columns
    columns = {c: "keep" if c in NO_QUASI_IDENTIFIERS else quasi for c in header}
    source = {"format": "csv", "path": str(path)}
    policy = make_policy({"input": source, "columns": columns, "k": KS[0]})
    options = {"k": ",".join(map(str, KS)), "method.grouping": ",".join(GROUPINGS.keys())}
    grid = read_grid(options, ["method.grouping.effort=normal,high"])
    to, cells = out / "survey" / name, make_cells(policy, grid)
    found = sweep(None, policy, cells, to, watcher=watch, spark=spark)
    rows = []
    for outcome in found.outcomes:
        groups = outcome.cell.policy.groups
        if groups is None:
            continue
        high = getattr(groups.grouping, "effort", "") == "high"
        published = PUBLISHED.get(groups.grouping.key, {}).get(name)
        rows.append(
            {
                "data": name,
                "method": HIGH if high else groups.grouping.key,
                "k": groups.k,
                "published": None if published is None else published[KS.index(groups.k)],
                "ours": outcome.value("il"),
                "smallest_class": outcome.value("min_class_size"),
                "seconds": outcome.seconds,
            }
        )
    table = pd.DataFrame(rows)
    table["difference"] = 100.0 * (table["ours"] / table["published"].astype(float) - 1.0)
    return table


def panels(rows: pd.DataFrame) -> list[Panel]:
    """Loss as a share of MDAV's, so that all k fit into one picture; Mondrian's would fill it."""
    made, rows = [], rows[rows["method"] != "mondrian"]
    for name, number in DATA_SETS.items():
        own = rows[rows["data"] == name]
        mdav = own[own["method"] == "mdav"].set_index("k")["ours"]
        series = by_method(own.assign(share=own["ours"] / own["k"].map(mdav)), "share")
        made.append(Panel(f"Table {number}: {name}", "k", "loss / MDAV's", series, HIGH))
    return made


def page(rows: pd.DataFrame) -> str:
    """The three tables: published, ours, difference."""
    lines = [
        "# Microaggregation methods (Chettri, Paul & Dutta 2012, tables 5-7)",
        "",
        "Information loss 100 SSE / SST on z-scored columns, through `sparkanon anonymize`.",
        "A cell is *ours* (published, difference in per cent). Many figures of the survey are",
        "quoted from papers that use variants of the method; nothing was tuned to them, and",
        "what differs by more than 5 per cent is explained below its table.",
        "",
        "![loss as a share of MDAV's, without mondrian](survey.png)",
    ]
    for name, number in DATA_SETS.items():
        own = rows[rows["data"] == name]
        lines += ["", f"## Table {number}: {name}", ""]
        lines += ["| method | " + " | ".join(f"k = {k}" for k in KS) + " | seconds |"]
        lines += ["|---|" + "---|" * (len(KS) + 1)]
        for method, part in own.groupby("method", sort=False):
            cells = [_cell(row) for row in part.sort_values("k").to_dict("records")]
            lines.append(f"| {method} | {' | '.join(cells)} | {part['seconds'].sum():.1f} |")
        best = _best(name)
        lines.append(f"| *best of all published* | {' | '.join(best)} | |")
        exact = ", ".join(f"{il:.4f}" for il in EXACT_MDAV[name] if il is not None)
        lines += ["", f"Exact MDAV by two other implementations: {exact}.", ""]
        lines += _explained(own)
    return "\n".join(lines) + "\n"


def _cell(row: Mapping[Any, Any]) -> str:
    text = f"{row['ours']:.3f}"
    if pd.isna(row["published"]):
        return text
    return f"{text} ({row['published']:g}, {row['difference']:+.1f})"


def _best(name: str) -> list[str]:
    columns = zip(*(table[name] for table in PUBLISHED.values() if name in table), strict=True)
    return [f"{min(il for il in column if il is not None):g}" for column in columns]


def _explained(own: pd.DataFrame) -> list[str]:
    """A line for every method that is far from the published figures, above or below."""
    far, lines = own[own["difference"].abs().round(1) > NEAR], []
    for method, part in far.groupby("method", sort=False):
        cells = (f"k = {row['k']} {row['difference']:+.1f} %" for row in part.to_dict("records"))
        reason = DIFFERENT.get((str(method), str(own["data"].iloc[0])))
        if reason is None and (part["difference"] < 0).all():
            reason = LOWER.get(str(method))
        lines.append(f"- {method}, {', '.join(cells)}: {reason or 'no reason is known'}.")
    return lines
