"""A grid of policies: what a sweep compares, every one checked before anything runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

from sparkanon.errors import PolicyError, Problem, short
from sparkanon.groupings import GROUPINGS
from sparkanon.policy.checks import counting_by_k
from sparkanon.policy.loading import make_policy, parse_value, put
from sparkanon.policy.model import AuditPolicy, Method, Policy
from sparkanon.policy.strict_yaml import TooLargeError
from sparkanon.registry import Registry, parameters_of
from sparkanon.releases import RELEASES
from sparkanon.spaces import SPACES

_REGISTRIES: dict[str, Registry[Any]] = {
    "space": SPACES,
    "release": RELEASES,
    "grouping": GROUPINGS,
}
# The order of the cells: nested loops over these options, k the innermost, so that all k of a
# method stand together.
OPTIONS = {f"method.{axis}": f"--{axis}" for axis in _REGISTRIES} | {"k": "--k"}
# A sweep reads one table and publishes nothing.
_FIXED = ("version", "input", "output", "runs", "private")
_MOST = 10_000  # combinations


@dataclass(frozen=True)
class Cell:
    """One policy of a grid, and in what it differs from the others."""

    policy: Policy
    method: str  # mdav; with the space or the release where the grid has several
    settings: str  # k=10 passes=2
    varied: Mapping[str, Any]  # policy path -> value, for what is neither k nor a method's name

    @property
    def label(self) -> str:
        return f"{self.settings} {self.method}".strip()


def read_grid(
    options: Mapping[str, str | None], vary: Sequence[str] = ()
) -> dict[str, Sequence[Any]]:
    """Policy path -> values, from what `--k`, `--grouping`, ... and `--vary` say.

    Values are separated by commas and are YAML, so `[a, b], [b, a]` are two lists.
    """
    texts = {path: text for path, text in options.items() if text is not None}
    problems = []
    for one in vary:
        path, equals, text = one.partition("=")
        if not equals or not path:
            problems.append(Problem("--vary", f"wants path=value,value, got '{short(one)}'"))
        elif path in texts:
            problems.append(Problem(_option(path), "is given twice"))
        else:
            texts[path] = text
    grid: dict[str, Sequence[Any]] = {}
    for path, text in texts.items():
        try:
            values = parse_value(f"[{text}]")
        except TooLargeError as error:
            problems.append(Problem(_option(path), str(error)))
            continue
        if isinstance(values, list) and values and None not in values:
            grid[path] = values
        else:
            problems.append(
                Problem(_option(path), f"wants values and commas, got '{short(text)}'")
            )
    if problems:
        raise PolicyError(problems)
    return grid


def make_cells(policy: Policy, grid: Mapping[str, Sequence[Any]]) -> tuple[Cell, ...]:
    """Every combination of the values, each a checked policy; all problems in one error.

    A method that the policy names already keeps the parameters it has there. A parameter is
    varied for the methods that have it: `mdav, refined` and `passes` 2, 6 are three cells. So
    are groupings and k for the releases that use them.
    """
    problems = _refused_grid(grid)
    if problems:
        raise PolicyError(problems)
    paths = [path for path in OPTIONS if path in grid]
    # methods come before their parameters
    paths += sorted((path for path in grid if path not in OPTIONS), key=lambda p: p.count("."))
    made: dict[str, tuple[Policy, dict[str, Any]]] = {}
    used: set[str] = set()
    for values in product(*(grid[path] for path in paths)):
        chosen = dict(zip(paths, values, strict=True))
        try:
            one, chosen = _one_policy(policy, chosen)
        except PolicyError as error:
            problems += _by_option(error.problems, chosen)
            used |= chosen.keys()
            continue
        used |= chosen.keys()
        made.setdefault(one.digest(), (one, chosen))
    problems += [
        Problem(_option(path), "no method of the sweep has this parameter")
        for path in paths
        if path not in used
    ]
    if problems:
        raise PolicyError(dict.fromkeys(problems))
    policies = [one for one, _ in made.values()]
    named = [axis for axis in _REGISTRIES if axis == "grouping" or _several(policies, axis)]
    return tuple(_cell(one, chosen, named) for one, chosen in made.values())


def _refused_grid(grid: Mapping[str, Sequence[Any]]) -> list[Problem]:
    if not grid:
        return [Problem("", "nothing varies; give --k 3,5,10, --grouping mdav,refined or --vary")]
    cells = math.prod(len(values) for values in grid.values())
    if cells > _MOST:
        return [Problem("", f"the values make {cells:,} combinations; at most {_MOST:,} are run")]
    return [
        Problem(_option(path), "stays the same in a sweep: it reads one table, publishes none")
        for path in grid
        if path.split(".")[0] in _FIXED
    ]


def _one_policy(policy: Policy, chosen: Mapping[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """The changed policy, and the changes that its methods take."""
    data = deepcopy(policy.to_dict())
    taken = {}
    for path, value in chosen.items():
        section, _, rest = path.partition(".")
        axis, _, parameter = rest.partition(".")
        if path == "k" and not _uses_k(data):
            continue
        if section == "method" and axis == "grouping" and not _makes_groups(data):
            continue
        if section == "method" and axis in _REGISTRIES:
            now = data["method"][axis]
            if not parameter and value == now["name"]:
                taken[path] = value
                continue
            if parameter and not _has(axis, now, parameter):
                continue
        put(data, path, deepcopy(value), _option(path))
        taken[path] = value
        if path == "method.release":
            _follow_release(data)
    return make_policy(data), taken


def _follow_release(data: dict[str, Any]) -> None:
    """Remove k and grouping where the release makes no groups, else add the default grouping."""
    if _makes_groups(data):
        data["method"].setdefault("grouping", Method().model_dump(mode="json")["grouping"])
        return
    data["method"].pop("grouping", None)
    if not _uses_k(data):
        data.pop("k", None)


def _makes_groups(data: Mapping[str, Any]) -> bool:
    """Whether the release makes groups; an unknown one is left to the policy's checks."""
    config = data["method"]["release"]
    name = config.get("name") if isinstance(config, Mapping) else config
    return all(item.by_group for item in RELEASES if item.key == name)


def _uses_k(data: Mapping[str, Any]) -> bool:
    audit = AuditPolicy.model_validate(data["audit"])
    return _makes_groups(data) or counting_by_k(data["gates"], audit) is not None


def _has(axis: str, config: Any, parameter: str) -> bool:
    """Whether a method has a parameter; an unknown method is left to the policy's checks."""
    name = config.get("name") if isinstance(config, dict) else config
    method = next((item for item in _REGISTRIES[axis] if item.key == name), None)
    outer, *_ = parameter.split(".")
    return method is None or outer in parameters_of(method)


def _by_option(problems: Iterable[Problem], chosen: Mapping[str, Any]) -> list[Problem]:
    """Name the option that caused a problem, or the cell if no single option did."""
    named = []
    for problem in problems:
        to_blame = [p for p in chosen if f"{problem.path}.".startswith(f"{p}.")]
        if to_blame:
            path = max(to_blame, key=len)
            inner = problem.path.removeprefix(path).lstrip(".")
            message = f"{inner}: {problem.message}" if inner else problem.message
            named.append(Problem(_option(path), message))
        elif problem.path.startswith("--"):
            named.append(problem)
        else:
            cell = " ".join(f"{_short(path)}={_text(value)}" for path, value in chosen.items())
            named.append(Problem(problem.path, f"{problem.message} (with {cell})"))
    return named


def _option(path: str) -> str:
    return OPTIONS.get(path, f"--vary {path}")


def _several(policies: Sequence[Policy], axis: str) -> bool:
    chosen = (getattr(policy.method, axis) for policy in policies)
    return len({method.key for method in chosen if method is not None}) > 1


def _cell(policy: Policy, chosen: Mapping[str, Any], named: Sequence[str]) -> Cell:
    varied = {
        path: value
        for path, value in chosen.items()
        if path not in OPTIONS or isinstance(value, Mapping)
    }
    settings: dict[str, Any] = {} if policy.k is None else {"k": policy.k}
    for path, value in varied.items():
        if path in OPTIONS:  # {name: refined, passes: 2} instead of a bare name
            settings |= {name: part for name, part in value.items() if name != "name"}
        else:
            settings[_short(path)] = value
    methods = [getattr(policy.method, axis) for axis in named]
    names = [method.key for method in methods if method is not None]
    return Cell(
        policy=policy,
        method=" ".join(names or [policy.method.release.key]),
        settings=" ".join(f"{name}={_text(value)}" for name, value in settings.items()),
        varied=varied,
    )


def _short(path: str) -> str:
    """method.grouping.passes -> passes, columns.age.type -> age.type, nulls -> nulls."""
    section, *inner = path.split(".")
    shown = inner[1:] or inner if section == "method" else inner
    return ".".join(shown or [section])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
