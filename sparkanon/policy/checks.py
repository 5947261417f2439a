"""What a policy can get wrong across its parts, found without a table and without Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from sparkanon.catalogue import CATALOGUE, RISK_GATES, gate_problem, measure_of
from sparkanon.errors import Problem
from sparkanon.numeric.records import Scale
from sparkanon.policy.model import AuditPolicy, ColumnType, Policy, Role, Sink, Source
from sparkanon.registry import Registry, unknown
from sparkanon.releases import RELEASES, Asked
from sparkanon.spaces import SPACES
from sparkanon.spaces.base import serves_any_pair
from sparkanon.urls import OBJECT_STORES, is_elsewhere, scheme_of, without_file

_MOST = 1_000  # problems that are looked for
# Spark's own options, for which a `yes` would fail with an error that does not name them.
_FLAGS = frozenset({"header", "multiline", "mergeschema", "enforceschema", "escapequotes"})
_BY_PATH = ("csv", "parquet", "delta")
# Names go into SQL as they are, so nothing but a name may pass.
_NAME_PART = r"(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`)"
_TABLE_NAME = re.compile(rf"{_NAME_PART}(?:\.{_NAME_PART}){{0,2}}")


def problems_in(policy: Policy) -> list[Problem]:
    """All problems in the order of the file, but at most the first thousand."""
    parts = (_places, _columns, _groups, _methods, _constraints, _gates, _audit, _seed)
    return list(islice(chain.from_iterable(part(policy) for part in parts), _MOST))


def same_place(one: str, other: str) -> bool:
    """Whether two paths mean the same folder, or one lies inside the other."""
    return is_inside(one, other) or is_inside(other, one)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is this folder or lies in it."""
    one, other = map(_canonical, (path, folder))
    return one == other or one.startswith(other + "/")


def _canonical(place: str) -> str:
    """One spelling of a place, as far as its text and this machine show it."""
    if is_elsewhere(place):
        scheme, _, rest = place.partition(":")
        return f"{scheme}:{os.path.normpath(rest)}"
    return os.path.realpath(without_file(place))


def name_problems(place: Source | Sink, where: str) -> Iterator[Problem]:
    """Whether the name of a catalog table is one: `people`, `db.people`, `lake.db.people`."""
    if place.format == "table" and place.name and not _TABLE_NAME.fullmatch(place.name):
        yield Problem(
            f"{where}.name",
            "is no name of a table: up to three parts with dots between them, each of the "
            "letters a-z, digits and underscores, or anything else in `backquotes`",
        )


def _unquoted(name: str) -> list[str]:
    parts = re.findall(_NAME_PART, name.lower())
    return [re.sub("`(`?)", r"\1", part) for part in parts]


def _places(policy: Policy) -> Iterator[Problem]:
    for where, place in (("input", policy.input), ("output", policy.output)):
        if place is None:
            continue
        wanted, other = ("path", "name") if place.format in _BY_PATH else ("name", "path")
        if getattr(place, wanted) is None:
            yield Problem(f"{where}.{wanted}", f"is required for format {place.format}")
        if getattr(place, other) is not None:
            yield Problem(f"{where}.{other}", f"is not used for format {place.format}")
        yield from name_problems(place, where)
        for name, value in place.options.items():
            if name.lower() in _FLAGS and str(value).lower() not in ("true", "false"):
                yield Problem(f"{where}.options.{name}", "must be true or false")
    source, sink = policy.input, policy.output
    if source is not None:
        if source.version is not None and source.format != "delta":
            yield Problem("input.version", "is used for format delta only")
        if source.types is not None and source.format != "csv":
            yield Problem("input.types", "is used for format csv only")
    if sink is not None and sink.using is not None and sink.format != "table":
        yield Problem("output.using", "is used for format table only")
    if sink is not None and sink.path:
        yield from store_problems(sink, objects=scheme_of(sink.path) in OBJECT_STORES)
    yield from _private_places(policy)
    if source is None or sink is None:
        return
    if source.path and sink.path and same_place(source.path, sink.path):
        yield Problem("output.path", "is the input, or lies inside it, or holds it")
    if source.name and sink.name and _unquoted(source.name) == _unquoted(sink.name):
        yield Problem("output.name", "is the input table")


def store_problems(sink: Sink, *, objects: bool) -> Iterator[Problem]:
    """What an output lacks on an object store."""
    if not objects or sink.format == "table":
        return
    if sink.format != "delta":
        text = "a folder on an object store cannot be replaced in one step; use format delta there"
        yield Problem("output.path", text)
    elif sink.staging is None:
        text = "is required here: an object store has no permissions of files; name a place that "
        yield Problem("output.staging", f"{text}no reader of the release can read")


def _private_places(policy: Policy) -> Iterator[Problem]:
    """Refuse private places inside folders that are replaced by every run or shown to readers."""
    holders = []
    if policy.output is not None and policy.output.path:
        holders.append(
            (policy.output.path, "the output, which is replaced as a whole and is public")
        )
    if policy.private is not None:
        holders.append((policy.private.path, "private.path, which is replaced as a whole"))
    own = [("runs", policy.runs)]
    if policy.output is not None and policy.output.staging:
        own.append(("output.staging", policy.output.staging))
    for where, path in own:
        for holder, what in holders:
            if is_inside(path, holder):
                yield Problem(where, f"lies inside {what}")
    if policy.audit.table is not None and is_inside(policy.runs, policy.audit.table.path):
        yield Problem("runs", "lies inside audit.table.path, whose files are all read as measures")


def _columns(policy: Policy) -> Iterator[Problem]:
    if not policy.quasi_identifiers:
        yield Problem("columns", "no column has the role quasi_identifier: nothing to protect")
    release = policy.method.release
    for name, column in policy.columns.items():
        path = f"columns.{name}"
        quasi = column.role is Role.QUASI_IDENTIFIER
        if not quasi and (column.type or column.order or column.as_):
            yield Problem(path, "type, order and as are used for quasi-identifiers only")
        if column.order is not None:
            if column.type is not ColumnType.ORDINAL:
                yield Problem(f"{path}.order", "is used with type: ordinal only")
            if len(set(map(str, column.order))) != len(column.order) or len(column.order) < 2:
                yield Problem(f"{path}.order", "must list at least two different values")
        if column.as_ and column.type not in (None, ColumnType.NUMERIC, ColumnType.BOOLEAN):
            yield Problem(f"{path}.as", f"cannot publish a {column.type} as double")
        if quasi and column.as_ and not release.cells.computed:
            yield Problem(f"{path}.as", f"release '{release.key}' publishes no means")
    for name in policy.with_role(Role.WEIGHT)[1:]:
        yield Problem(f"columns.{name}", "is a second weight; give one column that role")
    for name in policy.output.partition_by if policy.output else ():
        listed = policy.columns.get(name)
        if (listed is None and policy.unlisted != "keep") or (
            listed is not None and listed.role is Role.IDENTIFIER
        ):
            yield Problem("output.partition_by", f"'{name}' is not in the release")


def _groups(policy: Policy) -> Iterator[Problem]:
    """Require k if the release makes groups; refuse k, grouping and constraints if not."""
    release, method = policy.method.release, policy.method
    if release.by_group:
        if policy.k is None:
            text = f"is required: release '{release.key}' needs groups of at least k records"
            yield Problem("k", text)
        return
    unused = f"is not used: release '{release.key}' makes no groups"
    if not serves_any_pair(method.space):
        yield Problem("method.space", f"{unused}, and this space serves grouping only")
    if method.grouping is not None:
        yield Problem("method.grouping", f"{unused}; leave it out")
    for rule in ("l_diversity", "t_closeness"):
        if getattr(policy.constraints, rule) is not None:
            text = f"{unused} that could keep it; give a gate on what you want to hold instead"
            yield Problem(f"constraints.{rule}", text)
    counting = counting_by_k(policy.gates, policy.audit)
    if counting and policy.k is None:
        yield Problem("k", f"is required: {counting}, which counts by it")
    if policy.k is not None and not counting:
        by_k = " or ".join(name for name, about in CATALOGUE.items() if about.by_k)
        yield Problem("k", f"{unused}, and no gate on {by_k} counts by it; leave it out")


def counting_by_k(gates: Iterable[str], audit: AuditPolicy) -> str | None:
    """What in a policy asks for a measure that counts by k."""
    by_k = {name for name, about in CATALOGUE.items() if about.by_k}
    for gate in gates:
        if (measure := measure_of(gate)[1]) in by_k:
            return f"gate {gate} is about {measure}"
    named = sorted(by_k & audit.named) if audit.take != "all" else []
    return f"audit takes {named[0]}" if named else None


def _methods(policy: Policy) -> Iterator[Problem]:
    quasi = policy.quasi_identifiers
    for problem in policy.method.space.problems(quasi):
        yield Problem(f"method.space.{problem.path}", problem.message)
    yield from release_problems(policy, others=_publishes_others(policy))
    for name in dict.fromkeys(c for need in policy.method.space.needs() for c in need.columns):
        yield from _class_column(policy, name)
    for name in quasi:
        declared = policy.columns[name].type
        if declared is not None:
            yield from scale_problems(policy, name, declared)


def release_problems(policy: Policy, others: bool) -> list[Problem]:
    """Why the release cannot keep its promise; `others`: whether other columns are published."""
    asked = Asked(policy.quasi_identifiers, policy.k, others)
    found = policy.method.release.problems(asked)
    return [Problem(f"method.release.{one.path}", one.message) for one in found]


def _publishes_others(policy: Policy) -> bool:
    """Whether columns besides the masked ones are published, as far as the policy alone says."""
    masked_or_dropped = (Role.QUASI_IDENTIFIER, Role.IDENTIFIER)
    listed = any(column.role not in masked_or_dropped for column in policy.columns.values())
    return listed or policy.unlisted == "keep"


def _class_column(policy: Policy, name: str) -> Iterator[Problem]:
    """Check that the classes that a space needs come from a column that is released as it is."""
    listed = policy.columns.get(name)
    if listed is None:
        yield Problem("method.space.target", f"'{name}' is not in the policy; give it a role")
    elif listed.role not in (Role.SENSITIVE, Role.TARGET, Role.KEEP):
        text = f"'{name}' is {listed.role}; classes come from a column that is"
        yield Problem("method.space.target", f"{text} sensitive, target or keep")


def scale_problems(policy: Policy, name: str, declared: ColumnType) -> Iterator[Problem]:
    """Whether the space and the release take a column of this type, and which ones would."""
    axes: tuple[tuple[str, Registry[Any]], ...] = (("space", SPACES), ("release", RELEASES))
    for axis, registry in axes:
        method = getattr(policy.method, axis)
        if declared.scale not in method.scales:
            able = [item.key for item in registry if declared.scale in item.scales]
            yield Problem(
                f"columns.{name}",
                f"is {declared}, which {axis} '{method.key}' does not take; "
                f"choose {axis}: {' or '.join(able)}, or give the column another type",
            )
    if declared.scale is not Scale.NOMINAL and _has_taxonomy(policy, name):
        yield Problem(f"columns.{name}", f"is {declared}, and a taxonomy is for type: nominal")


def _has_taxonomy(policy: Policy, name: str) -> bool:
    try:
        return policy.method.release.allowed(name) is not None
    except ValueError:  # it cannot be read, which is another problem in the list
        return False


def _constraints(policy: Policy) -> Iterator[Problem]:
    sensitive = policy.with_role(Role.SENSITIVE)
    diverse, close = policy.constraints.l_diversity, policy.constraints.t_closeness
    for path, rule in (("l_diversity", diverse), ("t_closeness", close)):
        if rule is None:
            continue
        if not sensitive:
            yield Problem(f"constraints.{path}", "no column has the role sensitive")
        for name in rule.columns:
            if name not in sensitive:
                yield Problem(f"constraints.{path}.columns", f"'{name}' is not sensitive")
    if diverse is not None and diverse.c is not None and diverse.kind != "recursive":
        yield Problem("constraints.l_diversity.c", "is used with kind: recursive only")
    if diverse is not None and diverse.kind != "entropy" and not diverse.least.is_integer():
        yield Problem("constraints.l_diversity.l", f"must be a whole number for {diverse.kind}")


def _gates(policy: Policy) -> Iterator[Problem]:
    for gate in policy.gates:
        problem = gate_problem(gate)
        if problem is not None:
            yield problem
    if policy.method.release.by_group and policy.k is None:
        return  # there is no promise yet
    if not policy.promise.guaranteed and not any(gate in RISK_GATES for gate in policy.gates):
        text = (
            f"release '{policy.method.release.key}' guarantees nothing, so a gate on a risk has "
            f"to decide; give at least one of {', '.join(RISK_GATES)}"
        )
        yield Problem("gates", text)


def _audit(policy: Policy) -> Iterator[Problem]:
    taken = policy.audit.take
    for name in taken if isinstance(taken, list) else ():
        if name not in CATALOGUE:
            yield Problem("audit.take", unknown("measure", name, tuple(CATALOGUE)).message)
    for listed in ("measures", "attacks"):
        keys = [one.key for one in getattr(policy.audit, listed)]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            yield Problem(f"audit.{listed}", f"{key} is listed twice")
    taken_places = [
        (where, place.path)
        for where, place in (("output", policy.output), ("input", policy.input))
        if place is not None and place.path
    ]
    own = (("private.path", policy.private), ("audit.table.path", policy.audit.table))
    for path, part in own:
        if part is None:
            continue
        for where, place in taken_places:
            if same_place(place, part.path):
                yield Problem(path, f"is the {where}, or lies inside it, or holds it")
        taken_places.append(("private folder", part.path))


def _seed(policy: Policy) -> Iterator[Problem]:
    seed = policy.seed
    if seed is not None and (seed.env is None) == (seed.file is None):
        yield Problem("seed", "say either env: NAME or file: PATH")
