"""What the release holds besides what the policy meant to publish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sparkanon.registry import spec
from sparkanon.report.clearing import Part, name, rows_of
from sparkanon.report.sections.base import Section


@spec
class Columns(Section):
    """Columns that an audit found in the release; it holds their names, never a cell."""

    key: ClassVar[str] = "columns"
    title: ClassVar[str] = "Released columns"
    part: ClassVar[str | None] = "columns"
    explains: ClassVar[frozenset[str]] = frozenset({"copies"})

    def cleared(self, run: Part, k: int, rows: float | None) -> dict[str, Any]:
        columns = run.get("columns")
        return {"columns": _cleared(columns)} if isinstance(columns, Mapping) else {}

    def content(self, cleared: Part) -> list[Any]:
        """Lists of columns: title, meaning, (column, remark)."""
        held = cleared.get("columns")
        return [] if held is None else _lists(held)


def _cleared(columns: Part) -> dict[str, Any]:
    """Names of released columns that should perhaps not be there."""
    fields: dict[str, Any] = {
        part: [name(column) for column in columns.get(part) or ()]
        for part in ("identifiers", "unlisted")
    }
    parts = ("column", "of", "how")
    fields["copies"] = [{p: name(c.get(p, "")) for p in parts} for c in rows_of(columns, "copies")]
    return fields


def _lists(held: Part) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Lists of columns that should perhaps not be there: title, meaning, (column, remark)."""
    copies = {c["column"]: c for c in held["copies"]}
    people = [
        (n, f"copy of {copies[n]['of']}" if n in copies else "") for n in held["identifiers"]
    ]
    equal = [(c["column"], _remark(c)) for c in copies.values()]
    return [
        ("Identifiers", "They name a person and must not be released.", people),
        (
            "Copies of original columns",
            "They still hold what should have been dropped or masked.",
            equal,
        ),
        (
            "Not in the policy",
            "Nobody said what they are to a person.",
            [(n, "") for n in held["unlisted"]],
        ),
    ]


def _remark(copy: Part) -> str:
    of = "its own original" if copy["of"] == copy["column"] else copy["of"]
    return f"{of}: {copy['how']}"
