"""The page of all measures, made from their specs by `sparkanon methods --page`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkanon.attacks import ATTACKS
from sparkanon.catalogue import ALIASES, CATALOGUE, of_attack, takers_of
from sparkanon.measures import FAMILIES, MEASURES, About, Given
from sparkanon.measures.base import Taken
from sparkanon.measures.needs import OfPairs

_OPENING = """\
# Measures

Every measure can be a gate: `max_` or `min_` and its name, on the side that its direction
allows. x is an original value, z the published one, n the number of records. [audit.md](audit.md)
says how pairs are read, what costs what, and what was chosen where the papers are silent. This
page is made from the measures themselves: `sparkanon methods --page`.
"""


def measures_page() -> str:
    return "\n".join([_OPENING, *_families(), *_attacks(), *_parameters()]).rstrip() + "\n"


def _families() -> Iterator[str]:
    for family, title in FAMILIES.items():
        yield f"## {title}\n"
        yield "| measure | says | definition | gate | pairing | source |"
        yield "|---|---|---|---|---|---|"
        for about in CATALOGUE.values():
            if about.family == family:
                yield _row(about)
        yield ""


def _row(about: About) -> str:
    short = {f"min_{name}": f"min_{alias}" for alias, name in ALIASES.items()}
    gates = ", ".join(f"`{short.get(gate, gate)}`" for gate in about.gates)
    cells = (
        f"`{about.key}` {about.title}",
        about.meaning,
        about.formula,
        gates,
        _pairing(about),
        about.source,
    )
    return "| " + " | ".join(cell.replace("|x - z|", "abs(x - z)").replace("|", "\\|")
                             for cell in cells) + " |"  # fmt: skip


def _pairing(about: About) -> str:
    """Whether the measure needs the pairing of rows."""
    needs = takers_of((about.key,))[0].needs(Given((), k=2, paired=False))
    terms = (CATALOGUE[need.measure] for need in needs if isinstance(need, Taken))
    needed = any(isinstance(need, OfPairs) for need in needs)
    return "needed" if needed or any(_pairing(term) == "needed" for term in terms) else "no"


def _attacks() -> Iterator[str]:
    yield "## Attacks\n"
    yield "| attack | who knows | and is after | measures | source |"
    yield "|---|---|---|---|---|"
    for attack in ATTACKS:
        measures = ", ".join(f"`{about.key}`" for about in of_attack(attack))
        cells = (f"`{attack.key}` {attack.title}", attack.knows, attack.after, measures)
        yield "| " + " | ".join([*cells, attack.source]) + " |"
    yield ""


def _parameters() -> Iterator[str]:
    yield "## Parameters\n"
    example = "`[{name: interval_sd, width: 0.1}]`"
    yield f"In a policy under `audit.measures` or `audit.attacks`: {example}.\n"
    yield "| of | parameter | default |"
    yield "|---|---|---|"
    for entry in (*MEASURES.describe(), *ATTACKS.describe()):
        for name, schema in entry["parameters"].items():
            yield f"| `{entry['key']}` | `{name}`{_explained(schema)} | {schema.get('default')} |"


def _explained(schema: dict[str, Any]) -> str:
    return f": {schema['description']}" if "description" in schema else ""
