"""Frozen dataclasses as the values that JSON knows and back, as the types of their fields say.

A class of a union is named by `type` beside its fields, an array has its `dtype` and `shape`
beside its values. Finite floats are JSON numbers, which Python writes and reads exactly; the
infinite ones are the texts "inf" and "-inf".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

import numpy as np

from sparkanon.errors import InputError, Problem

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def to_plain(value: Any, hint: Any) -> Any:
    """A value of this type as JSON has it: objects, lists, texts, numbers, true, false, null."""
    return _form(hint).write(value, hint)


def from_plain(plain: Any, hint: Any, path: str) -> Any:
    """The value of this type; InputError with the path if `plain` is not of its form."""
    return _form(hint).read(plain, hint, path)


def refused(path: str, message: str) -> NoReturn:
    """Say what is wrong with a saved text, without a word of what it holds."""
    raise InputError(Problem(path, message))


@dataclass(frozen=True)
class _Form:
    write: Callable[[Any, Any], Any]
    read: Callable[[Any, Any, str], Any]


def _form(hint: Any) -> _Form:
    return _OBJECT if is_dataclass(hint) else _FORMS[get_origin(hint) or hint]


def _write_float(value: Any, hint: Any) -> float | str:
    number = float(value)
    if math.isnan(number):
        raise ValueError("NaN cannot be saved")
    return number if math.isfinite(number) else str(number)


def _read_float(plain: Any, hint: Any, path: str) -> float:
    if isinstance(plain, str) and plain in _INFINITE:
        return _INFINITE[plain]
    if type(plain) is int and abs(plain) <= 2**53:
        return float(plain)
    if type(plain) is not float or not math.isfinite(plain):
        refused(path, "must be a number that a double can hold")
    return plain


def _read_int(plain: Any, hint: Any, path: str) -> int:
    if type(plain) is not int or not -(2**63) <= plain < 2**63:
        refused(path, "must be a whole number of 64 bits")
    return plain


def _read_bool(plain: Any, hint: Any, path: str) -> bool:
    if type(plain) is not bool:
        refused(path, "must be true or false")
    return plain


def _read_text(plain: Any, hint: Any, path: str) -> str:
    if not isinstance(plain, str):
        refused(path, "must be a text")
    return plain


def _read_list(plain: Any, hint: Any, path: str) -> list[Any]:
    if not isinstance(plain, list):
        refused(path, "must be a list")
    inner = get_args(hint)[0]
    return [from_plain(one, inner, f"{path}.{i}") for i, one in enumerate(plain)]


def _write_list(value: Any, hint: Any) -> list[Any]:
    return [to_plain(one, get_args(hint)[0]) for one in value]


def _write_set(value: Any, hint: Any) -> list[Any]:
    """A sorted list, because a set has no fixed order; None comes first."""
    ordered = sorted(value, key=lambda one: (one is not None, one or ""))
    return _write_list(ordered, hint)


def _write_mapping(value: Any, hint: Any) -> dict[str, Any]:
    return {name: to_plain(one, get_args(hint)[1]) for name, one in value.items()}


def _read_mapping(plain: Any, hint: Any, path: str) -> dict[str, Any]:
    if not isinstance(plain, dict):
        refused(path, "must be an object")
    inner = get_args(hint)[1]
    return {name: from_plain(one, inner, f"{path}.{name}") for name, one in plain.items()}


def _write_object(value: Any, hint: Any) -> dict[str, Any]:
    hints = get_type_hints(hint)
    return {f.name: to_plain(getattr(value, f.name), hints[f.name]) for f in fields(hint)}


def _read_object(plain: Any, hint: Any, path: str) -> Any:
    names = [field.name for field in fields(hint)]
    if not isinstance(plain, dict) or set(plain) != set(names):
        refused(path, f"must be an object with {' and '.join(names)}")
    hints = get_type_hints(hint)
    values = {name: from_plain(plain[name], hints[name], f"{path}.{name}") for name in names}
    try:
        return hint(**values)
    except ValueError as error:
        raise InputError(Problem(path, str(error))) from None


def _write_union(value: Any, hint: Any) -> Any:
    if value is None:
        return None
    if is_dataclass(value):
        return {"type": type(value).__name__, **to_plain(value, type(value))}
    return to_plain(value, _other_than_none(hint))


def _read_union(plain: Any, hint: Any, path: str) -> Any:
    if plain is None and NoneType in get_args(hint):
        return None
    members = [one for one in get_args(hint) if isinstance(one, type)]
    classes = {one.__name__: one for one in members if is_dataclass(one)}
    if not classes:
        return from_plain(plain, _other_than_none(hint), path)
    named = plain.get("type") if isinstance(plain, dict) else None
    if not isinstance(named, str) or named not in classes:
        refused(path, f"must be an object whose type is {' or '.join(classes)}")
    inner = {name: one for name, one in plain.items() if name != "type"}
    return from_plain(inner, classes[named], path)


def _other_than_none(hint: Any) -> Any:
    (other,) = (one for one in get_args(hint) if one is not NoneType)
    return other


def _write_array(value: Any, hint: Any) -> dict[str, Any]:
    dtype, inner = _elements(hint)
    if value.dtype != dtype:
        raise TypeError(f"an array of {value.dtype} where {dtype} is expected")
    flat = [to_plain(one, inner) for one in value.ravel().tolist()]
    return {"dtype": dtype.name, "shape": list(value.shape), "values": _nested(flat, value.shape)}


def _nested(flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _read_array(plain: Any, hint: Any, path: str) -> Any:
    """Read-only, as all that is fitted."""
    dtype, inner = _elements(hint)
    if not isinstance(plain, dict) or set(plain) != {"dtype", "shape", "values"}:
        refused(path, "must be an object with dtype, shape and values")
    if plain["dtype"] != dtype.name:
        refused(f"{path}.dtype", f"must be {dtype.name}")
    shape = tuple(from_plain(plain["shape"], list[int], f"{path}.shape"))
    if any(size < 0 for size in shape):
        refused(f"{path}.shape", "must not be negative")
    values = _flat(plain["values"], shape, f"{path}.values")
    flat = [from_plain(one, inner, f"{path}.values") for one in values]
    found = np.array(flat, dtype).reshape(shape)
    found.setflags(write=False)
    return found


def _flat(values: Any, shape: tuple[int, ...], path: str) -> list[Any]:
    if not shape:
        return [values]
    if not isinstance(values, list) or len(values) != shape[0]:
        refused(path, "must be nested lists of the given shape")
    return [one for inner in values for one in _flat(inner, shape[1:], path)]


def _elements(hint: Any) -> tuple[np.dtype[Any], type]:
    """dtype of an array, and the Python type of its elements."""
    (scalar,) = get_args(get_args(hint)[1])
    dtype = np.dtype(scalar)
    return dtype, {"f": float, "i": int, "b": bool}[dtype.kind]


_OBJECT = _Form(_write_object, _read_object)
_FORMS: Mapping[Any, _Form] = {
    float: _Form(_write_float, _read_float),
    int: _Form(lambda value, _: int(value), _read_int),
    bool: _Form(lambda value, _: bool(value), _read_bool),
    str: _Form(lambda value, _: str(value), _read_text),
    list: _Form(_write_list, _read_list),
    tuple: _Form(_write_list, lambda plain, *rest: tuple(_read_list(plain, *rest))),
    frozenset: _Form(_write_set, lambda plain, *rest: frozenset(_read_list(plain, *rest))),
    Mapping: _Form(_write_mapping, _read_mapping),
    UnionType: _Form(_write_union, _read_union),
    np.ndarray: _Form(_write_array, _read_array),
}
