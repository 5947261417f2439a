"""Policies from YAML, from mappings, and with `--set` changes; every mistake in one error."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sparkanon.errors import PolicyError, Problem
from sparkanon.policy.checks import problems_in
from sparkanon.policy.model import Policy, Role, SeedSource, problems_of
from sparkanon.rng import Seed


def load_policy(path: str | os.PathLike[str], changes: Sequence[str] = ()) -> Policy:
    """Read a YAML policy, apply `path=value` changes, check everything."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"cannot read the policy {path}: {_reason(error)}") from None
    return make_policy(changed(parse(text), changes))


def parse(text: str) -> dict[str, Any]:
    """YAML to a mapping; a key that stands twice is an error, not a choice."""
    try:
        data = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = " ".join(filter(None, (error.context, error.problem)))
        raise PolicyError(Problem(place, f"is not valid YAML: {what}")) from None
    except yaml.YAMLError:
        raise PolicyError("the policy is not valid YAML") from None
    if not isinstance(data, dict):
        raise PolicyError("a policy is a mapping: version, input, output, columns, k, ...")
    return data


def make_policy(data: Mapping[str, Any]) -> Policy:
    """A checked policy from a mapping of the YAML's shape."""
    try:
        policy = Policy.model_validate(dict(data))
    except ValidationError as error:
        raise PolicyError(problems_of(error) + _further_problems(data, error)) from None
    return check_policy(policy)


def _further_problems(data: Mapping[str, Any], error: ValidationError) -> list[Problem]:
    """What else is wrong once the parts that do not parse are replaced by harmless ones."""
    mended: dict[str, Any] = deepcopy(dict(data))
    for top, *inner in (item["loc"] for item in error.errors()):
        if top == "columns" and inner:
            mended["columns"][inner[0]] = Role.QUASI_IDENTIFIER.value
        elif top == "method" and inner:
            mended["method"][inner[0]] = {"space": "gower"}.get(str(inner[0]), "")
            mended["method"] = {axis: spec for axis, spec in mended["method"].items() if spec}
        elif top == "k":
            mended["k"] = 2
        else:
            mended.pop(str(top), None)
    try:
        return problems_in(Policy.model_validate(mended))
    except ValidationError:
        return []


def check_policy(policy: Policy) -> Policy:
    """The policy itself, when its parts fit together."""
    problems = problems_in(policy)
    if problems:
        raise PolicyError(problems)
    return policy


def changed(data: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Apply changes of the form `method.grouping.passes=3`; values are YAML."""
    data = deepcopy(data)
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals or not path:
            raise PolicyError(Problem("--set", f"wants path=value, got '{change}'"))
        put(data, path, parse_value(text))
    return data


def put(data: dict[str, Any], path: str, value: Any, option: str = "--set") -> None:
    """Write a value at a dotted path of a policy's mapping; `option` is who asked for it."""
    *parents, last = path.split(".")
    at: Any = data
    for parent in parents:
        inner = at.setdefault(parent, {})
        if isinstance(inner, str):  # `grouping: refined` and `columns.age: keep` are short
            key = "role" if at is data.get("columns") else "name"
            inner = at[parent] = {key: inner}
        if not isinstance(inner, dict):
            raise PolicyError(Problem(option, f"'{path}': '{parent}' holds no options"))
        at = inner
    at[last] = value


def parse_value(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError:
        return text


def read_seed(source: SeedSource | None) -> Seed:
    """The secret seed; a fresh random one when the policy, or the environment, gives none."""
    if source is None:
        return Seed.draw()
    if source.env is not None:
        text = os.environ.get(source.env, "")
        return Seed.from_text(text) if text else Seed.draw()
    try:
        text = Path(str(source.file)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(Problem("seed.file", f"cannot be read: {_reason(error)}")) from None
    if not text:
        raise PolicyError(Problem("seed.file", "is empty"))
    return Seed.from_text(text)


def json_schema() -> dict[str, Any]:
    """JSON schema of a policy file, for editors."""
    schema = Policy.model_json_schema(by_alias=True)
    short = {"type": "string", "enum": schema["$defs"]["Role"]["enum"]}
    columns = schema["properties"]["columns"]
    columns["additionalProperties"] = {"anyOf": [short, columns["additionalProperties"]]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def schema_text() -> str:
    """The exported schema, as it stands in conf/policy.schema.json."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _reason(error: Exception) -> str:
    return error.strerror or "?" if isinstance(error, OSError) else "it is not UTF-8 text"


# Plain words that are no text. YAML 1.1 knows more, and would take the category `no` for false
# and the code 01234 for an octal number.
_NO_TEXT = {
    "bool": ("tTfF", r"true|True|TRUE|false|False|FALSE"),
    "int": ("-+0123456789", r"[-+]?(?:0|[1-9][0-9_]*)"),
    "float": (
        "-+.0123456789",
        r"[-+]?(?:(?:0|[1-9][0-9_]*)\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    ),
}


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses duplicate keys and leaves `on`, `off`, `yes`, `no` to be text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be plain text", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key}' stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag.rpartition(":")[2] not in _NO_TEXT]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, (_starts, _form) in _NO_TEXT.items():
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"^(?:{_form})$"), list(_starts)
    )
