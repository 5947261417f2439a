"""sparkanon reproduce: the papers' experiments, each as one command."""

from __future__ import annotations

import importlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sparkanon.cli import terminal
from sparkanon.cli.running import AsJson, call, running_spark
from sparkanon.cli.terminal import escape, out
from sparkanon.errors import InputError, Problem


class Experiment(StrEnum):
    SURVEY = "survey"
    LDA = "lda"


def reproduce(
    name: Annotated[Experiment, typer.Argument(help="survey: tables 5-7. lda: figures 12-15.")],
    data: Annotated[Path, typer.Option("--data", help="Folder with the papers' data sets.")],
    to: Annotated[Path, typer.Option("--out", help="Folder for table, picture and page.")] = Path(
        "reproduced"
    ),
    as_json: AsJson = False,
) -> None:
    """Run an experiment of a paper again: published figures beside ours.

    Every figure comes out of the same code as a job of yours. Writes a table (CSV), a picture
    (PNG) and a page (Markdown). survey: Chettri, Paul and Dutta 2012, the loss of all groupings
    on three reference sets. lda: Rodriguez-Hoyos et al. 2019, what models learn from releases
    of MDAV and of LDA-guided MDAV.
    """
    call.json = as_json
    if not data.is_dir():
        raise InputError(Problem("--data", f"{data} is no folder"))
    if to.exists() and not to.is_dir():
        raise InputError(Problem("--out", f"{to} is no folder"))
    experiment = importlib.import_module(f"sparkanon.experiments.{name}")
    to.mkdir(parents=True, exist_ok=True)
    progress = terminal.Progress()
    with running_spark(None, progress) as spark:
        paths = experiment.run(data, to, spark, progress)
    if as_json:
        terminal.print_json(
            {"status": "ok", "run_id": call.run_id, "files": [str(path) for path in paths]}
        )
        return
    for path in paths:
        out.print(f"wrote [bold]{escape(str(path))}[/]")
