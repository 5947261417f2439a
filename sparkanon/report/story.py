"""Verdict and sentences: what was done and what came of it, for somebody who was not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparkanon.catalogue import BASELINES
from sparkanon.errors import counted
from sparkanon.releases import RELEASES
from sparkanon.report.clearing import Part
from sparkanon.report.figures import count, interval
from sparkanon.report.glossary import word_for
from sparkanon.report.numbers import plain


@dataclass(frozen=True)
class Verdict:
    """`mood` is good, bad or neutral; it chooses sign and colour, never alone."""

    mood: str
    headline: str
    text: str


@dataclass(frozen=True)
class Card:
    """One number at a glance."""

    title: str
    value: str
    text: str


def verdict(cleared: Part) -> Verdict:
    gates, status = cleared["gates"], cleared.get("status")
    failed = [gate for gate in gates if not gate["passed"]]
    if cleared.get("command") == "sweep" and cleared.get("sweep"):
        cells = cleared["sweep"]["cells"]
        front = sum(cell["pareto"] for cell in cells)
        return Verdict(
            "neutral",
            f"{counted(len(cells), 'combination')} tried",
            f"{counted(front, 'of them is', 'of them are')} worth choosing from: no other has"
            " both less risk and less loss. Nothing was published.",
        )
    if status == "refused":
        return Verdict(
            "bad",
            "Refused",
            f"{_failed(failed, gates)} Nothing was published; an"
            " earlier release, if there is one, still stands.",
        )
    if failed:
        headlines = {
            "published": "Published although a gate failed",
            "dry_run": "Would be refused",
        }
        tail = {
            "dry_run": " This was a dry run: nothing was published.",
            "published": " Find out why before anyone uses this release.",
        }
        return Verdict(
            "bad",
            headlines.get(str(status), "Failed"),
            _failed(failed, gates) + tail.get(str(status), ""),
        )
    passed = f"All {len(gates)} gates were passed." if len(gates) > 1 else "The gate was passed."
    if not gates:
        passed = "No limits were set, so nothing could fail: judge by the numbers below."
    if status == "dry_run":
        mood = "good" if gates else "neutral"
        return Verdict(
            mood,
            "Would be published" if gates else "Dry run",
            f"{passed} This was a dry run: nothing was published.",
        )
    if status == "published":
        return Verdict("good" if gates else "neutral", "Published", passed)
    if status == "ok":
        return (
            Verdict("good", "Passed", passed)
            if gates
            else (Verdict("neutral", "Measured", passed))
        )
    return Verdict("neutral", str(status).capitalize(), passed)


def _failed(failed: Sequence[Part], gates: Sequence[Part]) -> str:
    if not failed:
        return "The release was stopped before its gates were checked."
    names = _listed([word_for(gate["measure"]).title for gate in failed])
    gate = "gate" if len(gates) == 1 else "gates"
    return f"{len(failed)} of {len(gates)} {gate} failed: {names}."


def _listed(names: Sequence[str], most: int = 12) -> str:
    names = [*names[:most], f"{len(names) - most} more"] if len(names) > most else names
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


_DONE = {release.key: release.done for release in RELEASES}
_NULLS = {
    "own_category": "count as a value of their own",
    "impute": "were filled in",
    "drop_row": "records that have some were dropped",
    "reject": "the table may not have any",
}
_ROLES = {
    "quasi_identifier": "Masked",
    "identifier": "Dropped",
    "sensitive": "Sensitive, unchanged",
    "target": "Target, unchanged",
    "weight": "Weight, unchanged",
    "keep": "Kept, unchanged",
}


def what_was_done(cleared: Part) -> tuple[str, list[tuple[str, str]]]:
    """A sentence made from the policy, and what became of the columns."""
    policy = cleared["policy"]
    roles: dict[str, list[str]] = {}
    for column, spec in policy.get("columns", {}).items():
        roles.setdefault(spec.get("role", ""), []).append(column)
    facts = [
        (label, _listed(roles[role], most=24)) for role, label in _ROLES.items() if role in roles
    ]
    if cleared["promise"]:
        facts.insert(0, ("What is promised", cleared["promise"]["text"]))
    if policy.get("nulls") in _NULLS:
        facts.append(("Missing values", _NULLS[policy["nulls"]]))
    return _opening(cleared, len(roles.get("quasi_identifier", []))), facts


def _opening(cleared: Part, columns: int) -> str:
    method = cleared["policy"].get("method", {})
    rows = (
        f"{count(cleared['rows_out'])} records" if cleared["rows_out"] is not None else "a table"
    )
    by = f" by {counted(columns, 'quasi-identifier')}" if columns else ""
    if cleared.get("command") == "audit":
        return f"A release of {rows} was compared with its original{by}."
    if cleared.get("command") == "sweep":
        return f"Combinations of methods were tried on {rows}{by}, and each result was measured."
    if not method:
        return f"This is what was measured on {rows}{by}."
    grouping, release = method.get("grouping", {}), method.get("release", {})
    how = _DONE.get(release.get("name"), "masked their values")
    if not grouping:
        return f"sparkanon took {rows}{by}, and {how}."
    k = cleared["k"] if cleared["k_is_given"] else "k"
    space = f", near by the {method['space']['name']} distance" if "space" in method else ""
    named = f" with {grouping['name']}" if grouping else ""
    return f"sparkanon grouped {rows}{by} into groups of at least {k}{named}{space}, and {how}."


def cards(cleared: Part) -> list[Card]:
    """What a reader asks first: is k kept, what can leak, what was lost, on how many rows."""
    found = {m["measure"]: m for m in cleared["measures"] if m["column"] is None}
    made: list[Card] = []
    smallest = cleared.get("class_sizes", {}).get("smallest")
    if smallest is None and "min_class_size" in found:
        smallest = found["min_class_size"]["value"]
    if smallest is not None:
        made.append(_size_card(cleared, count(_whole(smallest))))
    for measure in ("linkage_original_to_masked", "linkage_masked_to_original"):
        if measure in found:
            made.append(_linkage_card(found[measure], found.get(BASELINES[measure])))
            break
    if "il" in found:
        made.append(Card("Information loss", found["il"]["text"], _worst(cleared)))
    for measure in ("homogeneous", "t_closeness"):
        secret = [m for m in cleared["measures"] if m["measure"] == measure]
        if secret:
            worst = max(secret, key=lambda m: m["value"] if _is_number(m["value"]) else -1.0)
            where = f" ({worst['column']})" if worst["column"] is not None else ""
            made.append(Card(word_for(measure).title, worst["text"], _SECRETS[measure] + where))
            break
    if cleared["rows_out"] is not None:
        made.append(Card("Rows", count(cleared["rows_out"]), _rows_text(cleared)))
    return made


def _size_card(cleared: Part, smallest: str) -> Card:
    asked = f"; asked: k = {cleared['k']}" if cleared["k_is_given"] else ""
    if cleared["promise"].get("counted", "class") == "class":
        return Card("Smallest class", smallest, f"records at least share all values{asked}")
    return Card("Smallest group", smallest, f"records at least hide each other's values{asked}")


_SECRETS = {
    "homogeneous": "of records are in classes where all share the sensitive value",
    "t_closeness": "distance of the most unusual class from the table",
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value


def _linkage_card(risk: Part, guess: Part | None) -> Card:
    limits = f" (95 % limits {interval(risk)})" if interval(risk) else ""
    text = f"of people are found again by their nearest record{limits}"
    if guess is not None and _is_number(guess["value"]):
        text += f"; a random guess finds {guess['text']}"
    return Card("Linkage risk", risk["text"], text)


def _worst(cleared: Part) -> str:
    by_column = [
        m
        for m in cleared["measures"]
        if m["measure"] == "il" and m["column"] is not None and _is_number(m["value"])
    ]
    if not by_column:
        return "of the variance"
    worst = max(by_column, key=lambda m: float(m["value"]))
    return f"of the variance; most in {worst['column']}, {worst['text']}"


def _rows_text(cleared: Part) -> str:
    dropped = cleared.get("rows_dropped")
    if dropped is None:
        return "none were dropped" if cleared["rows_in"] is not None else "in the release"
    if cleared["rows_in"] is None:
        return f"and {dropped} dropped"
    return f"of {count(cleared['rows_in'])}; {count(dropped)} dropped"


def gate_use(gate: Part) -> float | None:
    """How much of an upper limit is used, for a small meter; None where that says nothing."""
    if gate["side"] != "at most" or not gate["limit"] or not _is_number(gate["value"]):
        return None
    return float(max(0.0, min(gate["value"] / gate["limit"], 1.0)))


def parameters(choice: Part) -> str:
    """A method of the policy in one line."""
    given = [
        f"{p} = {v if isinstance(v, bool | str) else plain(v)}"
        for p, v in choice.items()
        if p != "name"
    ]
    return f"{choice['name']} ({', '.join(given)})" if given else str(choice["name"])
