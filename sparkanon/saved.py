"""Fitted values as JSON text and back, the same to the last bit; other values are refused.

Reading makes objects of the classes in KINDS and of those that their fields name, never of a
class that the text names. KINDS has what every registered space fits, and the tree of blocks.
The text holds what was fitted, so also categories and extremes of the table: it is as private as
the table itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, get_type_hints

from sparkanon.blocks import Tree
from sparkanon.errors import InputError, Problem
from sparkanon.json_values import from_plain, refused, to_plain
from sparkanon.spaces import SPACES, FittedSpace

Saved = FittedSpace | Tree


@dataclass(frozen=True)
class Kind:
    """The name of a class in saved text; the version grows when its fields change."""

    name: str
    type: type[Saved]
    version: int


_VERSIONS: Mapping[str, int] = {}  # of kinds whose fields changed; the others are at version 1
KINDS = tuple(
    Kind(name, made, _VERSIONS.get(name, 1))
    for name, made in (
        *((space.key, get_type_hints(space.fit)["return"]) for space in SPACES),
        ("tree", Tree),
    )
)


def to_json(value: Saved) -> str:
    """A fitted value as text."""
    (kind,) = (kind for kind in KINDS if kind.type is type(value))
    saved = {"kind": kind.name, "version": kind.version, "value": to_plain(value, kind.type)}
    return json.dumps(saved, allow_nan=False)


def from_json(text: str) -> Saved:
    """The value that was saved; InputError if the text is anything else."""
    try:
        saved = _parsed(text)
        kind = _kind(saved)
        value: Saved = from_plain(saved["value"], kind.type, "saved.value")
        again = to_plain(value, kind.type)
    except RecursionError:
        refused("saved", "is nested too deeply")
    if again != saved["value"]:
        refused("saved.value", "is not in the form in which such a value is saved")
    return value


def _kind(saved: Any) -> Kind:
    if not isinstance(saved, dict) or set(saved) != {"kind", "version", "value"}:
        refused("saved", "must be an object with kind, version and value")
    found = [kind for kind in KINDS if kind.name == saved["kind"]]
    if not found:
        known = ", ".join(kind.name for kind in KINDS)
        refused("saved.kind", f"is none that can be read; these are {known}")
    version = saved["version"]
    if type(version) is not int or version < 1:
        refused("saved.version", "must be a whole number from 1")
    if version > found[0].version:
        text = f"is {version}, and this sparkanon reads up to {found[0].version}; take a newer one"
        refused("saved.version", text)
    return found[0]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(Problem("saved", f"is not complete JSON: {place}")) from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise InputError(Problem("saved", "holds a number with too many digits")) from None


def _no_number(name: str) -> NoReturn:
    refused("saved", "holds NaN or Infinity, which are no JSON")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        refused("saved", "holds an object with the same key twice")
    return found
