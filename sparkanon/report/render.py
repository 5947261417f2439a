"""All parts put together: what was cleared by `shown` goes into one HTML page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from sparkanon.report import figures, numbers, story
from sparkanon.report.clearing import Part
from sparkanon.report.glossary import FAMILIES, GLOSSARY, About, word_for
from sparkanon.report.sections import SECTIONS
from sparkanon.report.shown import shown_run


@dataclass(frozen=True)
class Drawn:
    """A section of this page; `missing` says what it does not show, and why."""

    key: str
    title: str
    intro: str
    content: list[Any]
    missing: tuple[str, ...] = ()


def render(run: Mapping[str, Any]) -> str:
    """One self-contained HTML page about a run.

    A part that `run` does not have is not shown; a measure in `left_out` is, with its reason.
    """
    cleared = shown_run(run)
    opening, facts = story.what_was_done(cleared)
    return _environment().get_template("report.html.j2").render(
        cleared=cleared,
        verdict=story.verdict(cleared),
        opening=opening,
        facts=facts,
        changes=figures.largest_changes(cleared),
        cards=story.cards(cleared),
        sections=[s for s in _sections(cleared) if s.content or s.missing],
        measures=_table(cleared),
        families=_glossary(cleared),
        embedded=htmlsafe_json_dumps(cleared, allow_nan=False),
        cells=htmlsafe_json_dumps(_cells(cleared), allow_nan=False),
        script=_script(),
        script_hash=_hash(_script()),
    )  # fmt: skip


def _sections(cleared: Part) -> list[Drawn]:
    return [
        Drawn(
            one.key,
            one.title,
            one.intro,
            one.content(cleared),
            _missing(cleared, one.explains),
        )
        for one in (kind() for kind in SECTIONS)
    ]


def _missing(cleared: Part, explains: frozenset[str]) -> tuple[str, ...]:
    return tuple(
        f"{_title(part['measure'])}: {part['why']}"
        for part in cleared["left_out"]
        if part["measure"] in explains
    )


def _title(part: str) -> str:
    return GLOSSARY[part].title if part in GLOSSARY else part.replace("_", " ").capitalize()


def _table(cleared: Part) -> list[dict[str, Any]]:
    """Rows of the table of all measures; `order` sorts by value, unknown below everything."""
    return [
        dict(m)
        | {
            "word": word_for(m["measure"]),
            "interval": figures.interval(m),
            "order": m["value"] if isinstance(m["value"], int | float) else "",
        }
        for m in cleared["measures"]
    ]


def _glossary(cleared: Part) -> list[tuple[str, list[tuple[str, About, bool]]]]:
    """All measures there are, by family, and whether this run has them."""
    here = {m["measure"] for m in cleared["measures"]}
    unknown = {m: word_for(m) for m in sorted(here) if m not in GLOSSARY}
    every = {**GLOSSARY, **unknown}
    grouped = [
        (title, [(m, word, m in here) for m, word in every.items() if word.family == family])
        for family, title in FAMILIES.items()
    ]
    return [(title, words) for title, words in grouped if words]


def _cells(cleared: Part) -> list[dict[str, Any]]:
    """What the page shows about a point of the map when it is chosen."""
    return [
        {
            "label": cell.get("label", ""),
            "front": cell["pareto"],
            "status": cell.get("status", ""),
            "facts": [[axis, cell[axis]] for axis in ("grouping", "release", "space")
                      if axis in cell]
            + [[word_for(m).title, text] for m, text in cell["texts"].items()],
        }
        for cell in cleared.get("sweep", {}).get("cells", ())
    ]  # fmt: skip


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("sparkanon.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "count": figures.count,
        "plain": numbers.plain,
        "percent": numbers.percent,
        "seconds": numbers.seconds,
        "parameters": story.parameters,
        "use": story.gate_use,
        "word": word_for,
        "title_of": _title,
    }
    return made


@cache
def _script() -> Markup:
    loader = _environment().loader
    assert loader is not None  # noqa: S101
    source, *_ = loader.get_source(_environment(), "page.js")
    return Markup(source)  # noqa: S704  our own file, not a word of the run in it


def _hash(script: str) -> str:
    """The page's policy lets this script run and no other, whatever a column is called."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")
