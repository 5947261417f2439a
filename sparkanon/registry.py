"""One explicit registry for each axis: a tuple of specs in, a checked lookup out."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar, dataclass_transform

from pydantic import (
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import PydanticCustomError

from sparkanon.errors import PolicyError, Problem, short

C = TypeVar("C")
MOST_ROWS = 2**63 - 1  # more than any table has, and few digits in a message
_LONG = 256  # bits of a number that is not printed


@dataclass_transform(frozen_default=True, kw_only_default=True)
def spec(cls: type[C]) -> type[C]:
    """Make a class a method spec: frozen, keyword-only, checked, unknown parameters refused."""
    config = ConfigDict(extra="forbid", strict=True)
    make: Callable[[type[C]], Any] = pydantic_dataclass(frozen=True, kw_only=True, config=config)
    made: type[C] = make(cls)
    return made


class Spec(Protocol):
    """What every entry of every axis says about itself."""

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]


T = TypeVar("T", bound=Spec)


class Registry(Generic[T]):
    """The methods of one axis by key; unknown keys are answered with the nearest ones."""

    def __init__(self, axis: str, specs: tuple[type[T], ...]) -> None:
        self.axis = axis
        self._by_key: dict[str, type[T]] = {}
        for item in specs:
            if item.key in self._by_key:
                raise ValueError(f"{axis} '{item.key}' is registered twice")
            self._by_key[item.key] = item

    def __iter__(self) -> Iterator[type[T]]:
        return iter(self._by_key.values())

    def keys(self) -> tuple[str, ...]:
        return tuple(self._by_key)

    def get(self, key: str) -> type[T]:
        """The spec class registered under `key`."""
        if key not in self._by_key:
            raise PolicyError(unknown(self.axis, key, self.keys()))
        return self._by_key[key]

    def build(self, config: str | Mapping[str, Any]) -> T:
        """A spec from what a policy says: its name, or a mapping with `name` and parameters."""
        if isinstance(config, str):
            config = {"name": config}
        parameters = {name: value for name, value in config.items() if name != "name"}
        return self.get(str(config.get("name")))(**parameters)

    def config(self, item: T) -> dict[str, Any]:
        """The inverse of `build`: what a policy would say to get this spec."""
        parameters: dict[str, Any] = TypeAdapter(type(item)).dump_python(item)
        return {"name": item.key} | parameters

    def schema(self) -> list[dict[str, Any]]:
        """JSON schema of the choices: a bare name, or a mapping with that name and parameters."""
        choices: list[dict[str, Any]] = [{"enum": list(self.keys())}]
        for item in self:
            described = dict(TypeAdapter(item).json_schema())
            named = {"name": {"const": item.key, "description": item.title}}
            described["properties"] = named | described.get("properties", {})
            described["required"] = ["name", *described.get("required", [])]
            choices.append(described)
        return choices

    def describe(self) -> list[dict[str, Any]]:
        """Key, title, source and parameters of every entry, for people and schedulers."""
        return [
            {
                "key": item.key,
                "title": item.title,
                "source": item.source,
                "parameters": TypeAdapter(item).json_schema().get("properties", {}),
            }
            for item in self
        ]


def parameters_of(kind: type[Any]) -> frozenset[str]:
    """The names of what a spec can be given."""
    return frozenset(field.name for field in dataclasses.fields(kind))


def unknown(what: str, name: str, choices: tuple[str, ...]) -> Problem:
    """The problem of a name nobody knows, with the nearest known ones."""
    near = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return Problem("", f"unknown {what} '{short(name)}'; {hint}choose from {', '.join(choices)}")


def choice(registry: Registry[Any], optional: bool = False) -> tuple[Any, ...]:
    """Pydantic's view of one axis: build by the registry, describe by the registry.

    An `optional` choice may be None.
    """

    def build(value: Any) -> Any:
        if (optional and value is None) or isinstance(value, tuple(registry)):
            return value
        if not isinstance(value, str | Mapping):
            raise PydanticCustomError("method", "must be a name, or a mapping with 'name'")
        try:
            return registry.build(value)
        except PolicyError as error:
            raise PydanticCustomError("method", str(error).replace("{", "{{")) from None
        except ValidationError as error:
            raise PydanticCustomError("method", "invalid", {"found": mistakes(error)}) from None

    def config(value: Any) -> Any:
        return None if value is None else registry.config(value)

    nothing = [{"type": "null"}] if optional else []
    return (
        PlainValidator(build),
        PlainSerializer(config),
        WithJsonSchema({"anyOf": [*registry.schema(), *nothing]}),
    )


def one_of(wanted: str) -> WrapValidator:
    """Refuse a value of the wrong type in these words, and not once for each possible type."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("one_of", f"must be {wanted}") from None

    return WrapValidator(check)


def mistakes(error: ValidationError) -> list[tuple[str, str]]:
    """Every mistake pydantic found as (path, what to change), those of nested specs too."""
    found = []
    for item in error.errors():
        path = ".".join(str(part) for part in item["loc"])
        nested: list[tuple[str, str]] = item.get("ctx", {}).get("found", [])
        found += [(f"{path}.{inner}".strip("."), text) for inner, text in nested]
        if not nested:
            found.append((path, spoken(item)))
    return found


def spoken(error: Mapping[str, Any]) -> str:
    """A pydantic error as a sentence that says what to change."""
    given = error.get("input")
    message = str(error["msg"])
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return "is not a known option here"
    if error["type"] == "missing":
        return "is required"
    message = message.removeprefix("Input ").removeprefix("Value error, ")
    message = message.replace("should be", "must be").replace("should ", "must ")
    if isinstance(given, str | int | float | bool) and error["type"] != "method":
        return f"{message}. Got {_shown(given)} instead"
    return message


def _shown(given: str | float) -> str:
    """A value that somebody wrote; Python does not print numbers of thousands of digits."""
    if isinstance(given, int) and given.bit_length() > _LONG:
        return f"a number of {given.bit_length():,} bits"
    return short(repr(given))
