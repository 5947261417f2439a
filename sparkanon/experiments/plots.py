"""Line charts side by side in one picture: what an experiment draws beside its table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Panel:
    """One chart: for each series its points in the order of x, which is drawn by logarithm."""

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    bold: str = ""  # the series that is drawn thick


def by_method(rows: pd.DataFrame, y: str) -> dict[str, list[tuple[float, float]]]:
    """The series of a panel: `y` over k, for each method in the order of the rows."""
    return {
        str(method): list(zip(part["k"], part[y], strict=True))
        for method, part in rows.groupby("method", sort=False)
    }


def draw(panels: Sequence[Panel], path: Path, columns: int = 2) -> None:
    """All panels in rows of `columns` as a PNG, with one legend for all beside them."""
    from matplotlib import ticker
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = math.ceil(len(panels) / columns)
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    height = max(3.6 * rows, 0.26 * len(names))  # the legend must fit beside them
    figure = Figure(figsize=(5.2 * columns + 2, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).flat
    for panel, axis in zip(panels, axes, strict=False):
        for name, points in panel.series.items():
            thick = 2.8 if name == panel.bold else 1.2
            style = {"color": f"C{names.index(name) % 10}", "linewidth": thick, "label": name}
            dashes = ("-", "--", ":")[names.index(name) // 10 % 3]
            axis.plot(*zip(*points, strict=True), marker=".", linestyle=dashes, **style)
        axis.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale="log")
        marks = sorted({x for points in panel.series.values() for x, _ in points})
        axis.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axis.xaxis.set_minor_locator(ticker.NullLocator())
        axis.grid(visible=True, color="0.9")
    shown = {
        text: line
        for axis in figure.axes
        for line, text in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend([shown[name] for name in names], names, loc="outside right center")
    FigureCanvasAgg(figure)
    figure.savefig(path)
