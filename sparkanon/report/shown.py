"""What may be shown: every part of a run goes through here before anything is drawn or embedded.

Only known parts pass, so a part that holds cells by mistake never reaches the page. Counts go
through `counts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkanon.report.counts import (
    class_sizes,
    coded_count,
    fewer,
    hidden,
    shares_of_bins,
    shown_count,
)
from sparkanon.report.numbers import finite, percent, shown_number
from sparkanon.report.words import word_for

UNKNOWN_K = 10  # where nobody says k: the coarser of the two thresholds statistical offices use
Part = Mapping[str, Any]
_COUNT = "count"


def name(value: Any) -> str:
    """A column's name, also where it holds what no file can be written with."""
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() or c == " " else "\ufffd" for c in text)


def threshold(run: Part) -> int:
    """The k that counts are held against."""
    for k in (run.get("k"), _mapping(run.get("policy")).get("k")):
        if isinstance(k, int) and not isinstance(k, bool) and k > 0:
            return k
    return UNKNOWN_K


def shown_run(run: Part) -> dict[str, Any]:
    """The parts of a run that this report knows, without a count below k or a cell."""
    k = threshold(run)
    rows_in, rows_out = finite(run.get("rows_in")), finite(run.get("rows_out"))
    told: dict[str, Any] = {
        key: None if run.get(key) is None else name(run[key])
        for key in ("run_id", "command", "created", "status", "policy_hash")
    }
    told |= {"k": k, "k_is_given": "k" in run or "k" in _mapping(run.get("policy"))}
    told |= {"rows_in": coded_count(rows_in, k), "rows_out": coded_count(rows_out, k)}
    if rows_in is not None and rows_out is not None and rows_in > rows_out:
        told["rows_dropped"] = coded_count(rows_in - rows_out, k)
        if hidden(rows_in - rows_out, k):
            told["rows_in"] = None  # or the difference would tell
    told["policy"] = _policy(_mapping(run.get("policy")))
    promise = _mapping(run.get("promise"))
    told["promise"] = {part: name(promise[part]) for part in ("kind", "text") if part in promise}
    told["gates"] = [_gate(gate, k, rows_out) for gate in _rows(run, "gates")]
    told["measures"] = [_measure(m, k, rows_out) for m in _rows(run, "measures")]
    told["left_out"] = [
        {"measure": name(part.get("measure", "")), "why": name(part.get("why", ""))}
        for part in _rows(run, "left_out")
    ]
    if isinstance(run.get("columns"), Mapping):
        told["columns"] = _released(run["columns"])
    if run.get("class_sizes"):
        told["class_sizes"] = class_sizes(run["class_sizes"], k)
    told["distributions"] = [_distribution(d, k, rows_out) for d in _rows(run, "distributions")]
    if _mapping(run.get("correlations")).get("columns"):
        told["correlations"] = _correlations(run["correlations"])
    told["outlyingness"] = [_outlyingness(row, k) for row in _rows(run, "outlyingness")]
    if _mapping(run.get("sweep")).get("cells"):
        told["sweep"] = _sweep(run["sweep"], k)
    told["seconds"] = {name(s): finite(v) for s, v in _mapping(run.get("seconds")).items()}
    told["versions"] = {name(s): name(v) for s, v in _mapping(run.get("versions")).items()}
    return told


def _mapping(part: Any) -> Part:
    return part if isinstance(part, Mapping) else {}


def _rows(run: Part, key: str) -> list[Part]:
    return [row for row in run.get(key) or () if isinstance(row, Mapping)]


def _policy(policy: Part) -> dict[str, Any]:
    """Roles and methods; places, seeds and the values of ordinal columns stay where they are."""
    told: dict[str, Any] = {
        key: name(policy[key]) for key in ("nulls", "unlisted") if key in policy
    }
    columns = {}
    for column, given in _mapping(policy.get("columns")).items():
        spec = given if isinstance(given, Mapping) else {"role": given}
        columns[name(column)] = {p: name(spec[p]) for p in ("role", "type", "as") if spec.get(p)}
    if columns:
        told["columns"] = columns
    method = _mapping(policy.get("method"))
    if method:
        told["method"] = {name(axis): _choice(given) for axis, given in method.items()}
    for rule, given in _mapping(policy.get("constraints")).items():
        told.setdefault("constraints", {})[name(rule)] = _choice({"name": "every class"} | given)
    return told


def _released(columns: Part) -> dict[str, Any]:
    """Names of released columns that should perhaps not be there."""
    told: dict[str, Any] = {
        part: [name(column) for column in columns.get(part) or ()]
        for part in ("identifiers", "unlisted")
    }
    parts = ("column", "of", "how")
    told["copies"] = [{p: name(c.get(p, "")) for p in parts} for c in _rows(columns, "copies")]
    return told


def _choice(given: Any) -> dict[str, Any]:
    """A method with its numbers and words of ours; other text among them might hold cells."""
    if not isinstance(given, Mapping):
        return {"name": name(given)}
    numbers = {
        name(p): v for p, v in given.items() if isinstance(v, bool) or finite(v) is not None
    }
    words = {p: name(given[p]) for p in ("effort", "kind") if given.get(p)}
    start = _mapping(given.get("start")).get("name")
    words |= {"start": name(start)} if start else {}
    return {"name": name(given.get("name", "?"))} | numbers | words


def shown_value(
    measure: str, value: Any, k: int, rows: float | None
) -> tuple[float | str | None, str]:
    """A measure's value for JSON and as text."""
    number, word = finite(value), word_for(measure)
    if number is None:
        return None, shown_number(None, word.unit)
    if word.unit == _COUNT:
        return coded_count(number, k), shown_count(number, k)
    if word.outside == "share of records" and rows and 0 < round(number * rows, 6) < k:
        text = f"under {percent(100 * k / rows)}" if k < rows else fewer(k)
        return text, text
    return number, shown_number(number, word.unit)


def _measure(given: Part, k: int, rows: float | None) -> dict[str, Any]:
    measure = name(given.get("measure", ""))
    column = given.get("column")
    value, text = shown_value(measure, given.get("value"), k, rows)
    told = {
        "measure": measure,
        "column": None if column is None else name(column),
        "value": value,
        "text": text,
    }
    for end in ("low", "high"):
        told[end], told[f"{end}_text"] = shown_value(measure, given.get(end), k, rows)
    if isinstance(value, str):  # an interval around a withheld value would tell it
        told["low"] = told["high"] = None
    return told


def _gate(given: Part, k: int, rows: float | None) -> dict[str, Any]:
    gate = name(given.get("gate", ""))
    side, _, measure = gate.partition("_")
    value, text = shown_value(measure, given.get("value"), k, rows)
    compared = finite(given.get("compared"))
    if compared is not None and compared != finite(given.get("value")):
        end = shown_value(measure, compared, k, rows)[1]
        text = f"{text} in a sample; {end} was held against the limit"
    limit = finite(given.get("limit"))
    word = word_for(measure)
    unit = "number" if word.unit == _COUNT else word.unit
    return {
        "gate": gate,
        "side": "at least" if side == "min" else "at most",
        "measure": measure,
        "limit": limit,  # a rule of the policy, not a count of the table
        "limit_text": shown_number(limit, unit),
        "value": value,
        "text": text,
        "passed": given.get("passed") is True,  # what is not surely passed is failed
    }


def _distribution(given: Part, k: int, rows: float | None) -> dict[str, Any]:
    return {
        "column": name(given.get("column", "")),
        "unit": name(given.get("unit", "")),
        "edges": [finite(edge) for edge in given.get("edges") or ()],
        "original": shares_of_bins(given.get("original") or (), k, rows),
        "released": shares_of_bins(given.get("released") or (), k, rows),
    }


def _correlations(given: Part) -> dict[str, Any]:
    told: dict[str, Any] = {"columns": [name(column) for column in given["columns"]]}
    for side in ("original", "released"):
        told[side] = [[finite(cell) for cell in row] for row in given.get(side) or ()]
    return told


def _outlyingness(row: Part, k: int) -> dict[str, Any]:
    """A risk among fewer than k records is a count about them, so it goes with the count."""
    records = coded_count(row.get("records"), k)
    told: dict[str, Any] = {"decile": finite(row.get("decile")), "records": records}
    for key in ("linkage", "baseline"):
        told[key] = None if isinstance(records, str) else finite(row.get(key))
    return told


def _sweep(given: Part, k: int) -> dict[str, Any]:
    cells = []
    for cell in _rows(given, "cells"):
        measures = _mapping(cell.get("measures"))
        values = {name(m): shown_value(name(m), v, k, None) for m, v in measures.items()}
        told: dict[str, Any] = {
            p: name(cell[p])
            for p in ("label", "grouping", "release", "space", "status")
            if cell.get(p) is not None
        }
        told |= {"k": finite(cell.get("k")), "pareto": cell.get("pareto") is True}
        told["measures"] = {m: value for m, (value, _) in values.items()}
        told["texts"] = {m: text for m, (_, text) in values.items()}
        cells.append(told)
    return {
        "x": name(given.get("x", "il")),
        "y": name(given.get("y", "linkage_masked_to_original")),
        "cells": cells,
    }
