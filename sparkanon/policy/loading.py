"""Policies from YAML, from mappings, and with `--set` changes; every mistake in one error."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sparkanon.errors import PolicyError, Problem, is_text, short
from sparkanon.policy.checks import problems_in
from sparkanon.policy.model import Policy, Role, SeedSource, problems_of
from sparkanon.policy.strict_yaml import DEEPEST, LONGEST, TooLargeError, read_yaml
from sparkanon.rng import Seed


def load_policy(path: str | os.PathLike[str], changes: Sequence[str] = ()) -> Policy:
    """Read a YAML policy, apply `path=value` changes, check everything."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)  # enough to see that it is too long
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"cannot read the policy {path}: {_reason(error)}") from None
    return make_policy(changed(parse(text), changes))


def parse(text: str) -> dict[str, Any]:
    """YAML to a mapping; a key that stands twice is an error, not a choice."""
    try:
        data = read_yaml(text)
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
    """The problems that would remain if the parts that do not parse were corrected."""
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
            raise PolicyError(Problem("--set", f"wants path=value, got '{short(change)}'"))
        try:
            put(data, path, parse_value(text))
        except TooLargeError as error:
            raise PolicyError(Problem("--set", f"{short(path)}: {error}")) from None
    return data


def put(data: dict[str, Any], path: str, value: Any, option: str = "--set") -> None:
    """Write a value at a dotted path of a policy's mapping; `option` is who asked for it."""
    if not is_text(path):
        raise PolicyError(Problem(option, "a path is no UTF-8 text"))
    *parents, last = path.split(".")
    if len(parents) >= DEEPEST:
        raise PolicyError(Problem(option, f"a path has fewer than {DEEPEST} dots"))
    at: Any = data
    for parent in parents:
        inner = at.setdefault(parent, {})
        if isinstance(inner, str):  # `grouping: refined` and `columns.age: keep` are short
            key = "role" if at is data.get("columns") else "name"
            inner = at[parent] = {key: inner}
        if not isinstance(inner, dict):
            raise PolicyError(
                Problem(option, f"'{short(path)}': '{short(parent)}' holds no options")
            )
        at = inner
    at[last] = value


def parse_value(text: str) -> Any:
    """The value of a text on the command line, read as YAML; a text that is not YAML is itself."""
    try:
        return read_yaml(text)
    except yaml.YAMLError:
        return text


NEW_SEED = "python3 -c 'import secrets; print(secrets.token_hex(32))'"


def read_seed(source: SeedSource | None) -> Seed:
    """The secret seed; a fresh random one when the policy, or the environment, gives none."""
    if source is None:
        return Seed.draw()
    if source.env is not None:
        text, where = os.environ.get(source.env, "").strip(), "seed.env"
        if not text:
            return Seed.draw()
    else:
        text, where = _secret_file(Path(str(source.file))), "seed.file"
    try:
        return Seed.from_text(text)
    except ValueError as error:
        why = "It needs 128 bits of a random generator: whoever guesses it undoes the release"
        what = f"the seed {error}. {why}. Make one with: {NEW_SEED}"
        raise PolicyError(Problem(where, what)) from None


def _secret_file(path: Path) -> str:
    """The text of a file, which must be readable by its owner alone."""
    try:
        others = path.stat().st_mode & 0o077
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(Problem("seed.file", f"cannot be read: {_reason(error)}")) from None
    if others:
        what = f"others may read or write it; say: chmod 600 {shlex.quote(str(path))}"
        raise PolicyError(Problem("seed.file", what))
    if not text:
        raise PolicyError(Problem("seed.file", f"is empty; make a seed with: {NEW_SEED}"))
    return text


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
