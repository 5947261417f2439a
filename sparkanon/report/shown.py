"""What may be shown: every part of a run goes through here before anything is drawn or embedded.

Only known parts pass, so a part that holds cells by mistake never reaches the page. Counts go
through `counts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkanon.measures.anonymity import few
from sparkanon.report.clearing import COUNT, Part, mapping, name, rows_of, shown_value
from sparkanon.report.counts import coded_count, hidden, without_counts
from sparkanon.report.glossary import word_for
from sparkanon.report.numbers import finite, shown_number
from sparkanon.report.sections import SECTIONS


def threshold(run: Part) -> int:
    """Counts of fewer records than this are not shown: the k of the run, or a usual one."""
    return few(_given_k(run))


def _given_k(run: Part) -> int | None:
    for k in (run.get("k"), mapping(run.get("policy")).get("k")):
        if isinstance(k, int) and not isinstance(k, bool) and k > 0:
            return k
    return None


def shown_run(run: Part) -> dict[str, Any]:
    """The parts of a run that this report knows, without a count below k or a cell."""
    k = threshold(run)
    rows_in, rows_out = finite(run.get("rows_in")), finite(run.get("rows_out"))
    cleared: dict[str, Any] = {
        key: None if run.get(key) is None else name(run[key])
        for key in ("run_id", "command", "created", "status", "policy_hash")
    }
    cleared |= {"k": k, "k_is_given": _given_k(run) is not None}
    cleared |= {"rows_in": coded_count(rows_in, k), "rows_out": coded_count(rows_out, k)}
    if rows_in is not None and rows_out is not None and rows_in > rows_out:
        cleared["rows_dropped"] = coded_count(rows_in - rows_out, k)
        if hidden(rows_in - rows_out, k):
            cleared["rows_in"] = None  # or the difference would give the count away
    cleared["policy"] = _policy(mapping(run.get("policy")))
    promise = mapping(run.get("promise"))
    cleared["promise"] = {
        part: name(promise[part]) for part in ("counted", "text") if part in promise
    }
    cleared["gates"] = [_gate(gate, k, rows_out) for gate in rows_of(run, "gates")]
    cleared["measures"] = [_measure(m, k, rows_out) for m in rows_of(run, "measures")]
    _withhold_sums(cleared)
    cleared["left_out"] = [
        {
            "measure": name(part.get("measure", "")),
            "why": without_counts(name(part.get("why", "")), k),
        }
        for part in rows_of(run, "left_out")
    ]
    for section in SECTIONS:
        cleared |= section().cleared(run, k, rows_out)
    cleared["seconds"] = {name(s): finite(v) for s, v in mapping(run.get("seconds")).items()}
    cleared["versions"] = {name(s): name(v) for s, v in mapping(run.get("versions")).items()}
    return cleared


def _policy(policy: Part) -> dict[str, Any]:
    """Roles and methods; places, seeds and the values of ordinal columns stay where they are."""
    cleared: dict[str, Any] = {
        key: name(policy[key]) for key in ("nulls", "unlisted") if key in policy
    }
    columns = {}
    for column, given in mapping(policy.get("columns")).items():
        spec = given if isinstance(given, Mapping) else {"role": given}
        columns[name(column)] = {p: name(spec[p]) for p in ("role", "type", "as") if spec.get(p)}
    if columns:
        cleared["columns"] = columns
    method = mapping(policy.get("method"))
    if method:
        cleared["method"] = {name(axis): _choice(given) for axis, given in method.items()}
    for rule, given in mapping(policy.get("constraints")).items():
        cleared.setdefault("constraints", {})[name(rule)] = _choice(
            {"name": "every class"} | given
        )
    return cleared


def _choice(given: Any) -> dict[str, Any]:
    """A method with its numbers and words of ours; other text among them might hold cells."""
    if not isinstance(given, Mapping):
        return {"name": name(given)}
    numbers = {
        name(p): v for p, v in given.items() if isinstance(v, bool) or finite(v) is not None
    }
    words = {p: name(given[p]) for p in ("effort", "kind") if given.get(p)}
    start = mapping(given.get("start")).get("name")
    words |= {"start": name(start)} if start else {}
    return {"name": name(given.get("name", "?"))} | numbers | words


def _measure(given: Part, k: int, rows: float | None) -> dict[str, Any]:
    measure = name(given.get("measure", ""))
    column = given.get("column")
    value, text = shown_value(measure, given.get("value"), k, rows)
    cleared = {
        "measure": measure,
        "column": None if column is None else name(column),
        "value": value,
        "text": text,
    }
    for end in ("low", "high"):
        cleared[end], cleared[f"{end}_text"] = shown_value(measure, given.get(end), k, rows)
    if isinstance(value, str):  # an interval would give the withheld value away
        cleared["low"] = cleared["high"] = None
    return cleared


def _withhold_sums(cleared: Mapping[str, Any]) -> None:
    """Withhold a sum unless all of its terms are shown, because a hidden one could be computed."""
    shown = {
        m["measure"]
        for m in cleared["measures"]
        if m["column"] is None and not isinstance(m["value"], str | None)
    }
    for one in (*cleared["measures"], *cleared["gates"]):
        if set(word_for(one["measure"]).terms) - shown and one["value"] is not None:
            one["value"] = one["text"] = "withheld: one of its terms could be computed"
            one |= {end: None for end in ("low", "high") if end in one}
            one |= {f"{end}_text": "" for end in ("low", "high") if end in one}


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
    unit = "number" if word.unit == COUNT else word.unit
    return {
        "gate": gate,
        "side": "at least" if side == "min" else "at most",
        "measure": measure,
        "limit": limit,  # a rule of the policy, not a count of the table
        "limit_text": shown_number(limit, unit),
        "value": value,
        "text": text,
        "passed": given.get("passed") is True,  # anything but a plain true counts as failed
    }
