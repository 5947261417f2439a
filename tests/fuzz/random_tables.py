"""Tables at random: quasi-identifiers of every type, with ties, nulls, extremes and oddities."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from leaks import Secrets

Rng = np.random.Generator
LEVELS = ("none", "little", "some", "much", "all")
TOWNS = ("Aarhus", "aarhus", "Évora", "北京", "a,b", "{x}", "", "*", "null", "0")
PLAIN_TOWNS = ("Aarhus", "Berg", "Dover", "Essen", "Fulda", "Gent")
TREE = {"north": ["Aarhus", "Berg"], "south": {"coast": ["Dover", "Essen"], "hills": ["Fulda"]}}
DAY, MOMENT = dt.date(2000, 1, 1), dt.datetime(2001, 1, 1)
ROWS = (7, 30, 120, 400)
LATE = pa.scalar(3_700_000, pa.int32()).cast(pa.date32())  # of the year 12,100, too late for us


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: what a policy says about it, and what Spark is to make of it."""

    name: str
    kind: str
    scale: str  # numeric, ordinal, nominal
    declared: dict[str, Any] = field(default_factory=dict)  # besides its role
    sql: str | None = None  # a cast to what Parquet does not know
    steps: tuple[Any, ...] | None = None  # the values of an ordinal column, lowest first
    plain_names: bool = True  # whether its cells may stand in the names of folders

    @property
    def as_double(self) -> bool:
        return self.declared.get("as") == "double"


@dataclass(frozen=True)
class Table:
    """A table, what its columns are for, and why it must be refused, if it must."""

    rows: pa.Table
    quasi: tuple[Quasi, ...]
    roles: dict[str, Any]  # of all other columns
    secrets: Secrets
    unlisted: tuple[str, ...] = ()
    flaws: frozenset[str] = frozenset()
    doubts: frozenset[str] = frozenset()  # why it may be refused
    tagged: bool = False  # whether a column says which row is which

    def clean(self, name: str) -> pa.ChunkedArray:
        """Cells as they count: a NaN is a null."""
        cells = self.rows.column(name)
        if not pa.types.is_floating(cells.type):
            return cells
        nan = pa.compute.is_nan(cells)
        return pa.compute.if_else(nan, pa.scalar(None, cells.type), cells)

    @property
    def complete(self) -> list[bool]:
        """Which rows have a finite value in every quasi-identifier."""
        whole = np.ones(self.rows.num_rows, bool)
        for quasi in self.quasi:
            cells = self.clean(quasi.name)
            if pa.types.is_floating(cells.type):
                whole &= pa.compute.is_finite(cells).fill_null(False).to_numpy()
            else:
                whole &= pa.compute.is_valid(cells).to_numpy()
        return [bool(one) for one in whole]

    def taking_part(self, nulls: str) -> Table:
        kept = self.rows.filter(pa.array(self.complete)) if nulls == "drop_row" else self.rows
        return replace(self, rows=kept)

    def has_nulls(self, name: str) -> bool:
        return self.clean(name).null_count > 0


def a_table(rng: Rng, secrets: Secrets, *, rows: int | None = None) -> Table:
    n = rows or int(rng.choice(ROWS, p=(0.06, 0.36, 0.4, 0.18)))
    flaws: set[str] = set()
    made: dict[str, pa.Array] = {}
    quasi: list[Quasi] = []
    keys = list(KINDS)
    likely = np.array([KINDS[key].weight for key in keys])
    count = min(int(rng.integers(1, 7)), 5)
    for key in rng.choice(keys, count, replace=False, p=likely / likely.sum()):
        one, cells = _quasi(rng, str(key), n, secrets)
        quasi.append(one)
        made[one.name] = cells
    table = pa.table(made)
    if rng.random() < 0.25:
        table = table.take(pa.array(rng.integers(0, max(2, n // 3), n)))  # equal rows
    roles: dict[str, Any] = {"person": "identifier"}
    name = _word(rng, "Zanzibarquux")
    secrets.names.add(name)
    table = table.append_column("person", pa.array([f"{name} {i}" for i in range(n)]))
    table = _others(rng, table, roles, secrets, flaws)
    tagged = bool(rng.random() < 0.7)
    if tagged:
        table = table.append_column("tag", pa.array(rng.permutation(n) + 1, pa.int64()))
        roles["tag"] = "keep"
    unlisted = tuple(name for name in table.column_names if name == "spare")
    found = Table(table, tuple(quasi), roles, secrets, unlisted, tagged=tagged)
    doubts = {"spread" for q in quasi if KINDS[q.kind].doubtful and q.scale != "nominal"}
    for one in quasi:
        if one.steps is not None and len(one.declared["order"]) < len(one.steps):
            flaws |= {"order"} if one.steps[0] in table.column(one.name).to_pylist() else set()
    flaws |= {flaw for q in quasi for flaw in _odd(q, table.column(q.name))}
    flaws |= {"all null" for q in quasi if found.clean(q.name).null_count == n}
    return replace(found, flaws=frozenset(flaws), doubts=frozenset(doubts))


def _quasi(rng: Rng, key: str, n: int, secrets: Secrets) -> tuple[Quasi, pa.Array]:
    kind = KINDS[key]
    name = str(rng.choice([key, f"{key}.dot", f"ü {key}", f"`{key}`"], p=(0.7, 0.1, 0.1, 0.1)))
    cells = kind.make(rng, n)
    scale, declared = kind.scale, dict(kind.declared)
    if scale == "numeric" and kind.others and rng.random() < 0.15:
        scale = str(rng.choice(kind.others))
        declared["type"] = scale
    elif kind.averaged and rng.random() < 0.2:
        declared["as"] = "double"
    one = Quasi(name, key, scale, declared, kind.sql, kind.steps, plain_names=kind.plain)
    if kind.steps is not None and rng.random() < 0.05:
        one = replace(one, declared=declared | {"order": list(kind.steps[1:])})
    if kind.secret is not None and rng.random() < 0.45:
        secret = kind.secret(rng)
        cells = _with(rng, cells, secret)
        one = replace(one, plain_names=False)
        if isinstance(secret, str):
            secrets.words.add(secret)
        else:
            secrets.add_number(name, secret)
            if isinstance(secret, dt.date):
                secrets.words.add(secret.isoformat()[:10])
    if rng.random() < 0.3 and n > 1:
        hidden = pa.array(rng.random(n) < rng.choice([0.05, 0.3, 0.6]))
        cells = pa.compute.if_else(hidden, pa.scalar(None, cells.type), cells)
    if kind.odd is not None and rng.random() < 0.25:
        cells = _with(rng, cells, kind.odd[0], once=True)
    return one, cells


def _odd(quasi: Quasi, cells: pa.ChunkedArray) -> Iterator[str]:
    """Why the table must be refused for this column, if the odd cell is among the rows drawn."""
    odd, flaw = KINDS[quasi.kind].odd or (None, None)
    if flaw is not None and quasi.scale != "nominal":
        one = odd if isinstance(odd, pa.Scalar) else pa.scalar(odd, cells.type)
        if pa.compute.any(pa.compute.equal(cells, one)).as_py():
            yield flaw


def _others(
    rng: Rng, table: pa.Table, roles: dict[str, Any], secrets: Secrets, flaws: set[str]
) -> pa.Table:
    """The columns that travel, and one that nobody listed."""
    n = table.num_rows
    ill = rng.integers(0, int(rng.choice([1, 4, 4, 4])), n)
    if rng.random() < 0.5:
        words = [_word(rng, "Morbusquux") for _ in range(4)]
        secrets.words.update(words)
        table = table.append_column("ill", pa.array([words[i] for i in ill]))
    else:
        table = table.append_column("ill", pa.array(ill, pa.int32()))
    roles["ill"] = str(
        rng.choice(["sensitive", "target", "keep", "identifier"], p=(0.7, 0.1, 0.15, 0.05))
    )
    extra: dict[str, pa.Array] = {
        "list": pa.array([[i, None] for i in range(n)], pa.list_(pa.int64())),
        "pack": pa.array([{"a": i, "b": str(i)} for i in range(n)]),
        "blob": pa.array([f"{i}".encode() for i in range(n)], pa.binary()),
        "spare": pa.array(rng.integers(0, 9, n), pa.int64()),
    }
    for name, cells in extra.items():
        if rng.random() < 0.08:
            table = table.append_column(name, cells)
            if name != "spare":
                roles[name] = "keep"
    if rng.random() < 0.15:
        weights = rng.random(n).round(3) + 0.001
        if rng.random() < 0.15:
            weights[int(rng.integers(n))] = rng.choice([-1.0, np.nan, np.inf])
            flaws.add("weight")
        table = table.append_column("w", pa.array(weights))
        roles["w"] = "weight"
    return table


def _word(rng: Rng, begin: str) -> str:
    return begin + "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 8))


def _with(rng: Rng, cells: pa.Array, value: Any, *, once: bool = False) -> pa.Array:
    """The value in one row, in a few, or in all that hold one."""
    n = len(cells)
    share = 0.0 if once else rng.choice([0.0, 0.1, 1.0], p=(0.6, 0.3, 0.1))
    at = rng.random(n) < share
    at[int(rng.integers(n))] = True
    one = value if isinstance(value, pa.Scalar) else pa.scalar(value, cells.type)
    return pa.compute.if_else(pa.array(at), one, cells)


@dataclass(frozen=True)
class Kind:
    """How cells of a type are made.

    `secret` is a value that nobody else has, `odd` one that the type allows and few expect, with
    the reason why a table with it must be refused, if it must.
    """

    make: Callable[[Rng, int], pa.Array]
    scale: str = "numeric"
    secret: Callable[[Rng], Any] | None = None
    odd: tuple[Any, str | None] | None = None
    declared: dict[str, Any] = field(default_factory=dict)
    sql: str | None = None
    steps: tuple[Any, ...] | None = None
    averaged: bool = False  # whether its mean may be published as a double
    plain: bool = False  # whether folders may be named after its cells
    doubtful: bool = False  # whether its numbers may lie too far apart, or too near
    others: tuple[str, ...] = ("nominal", "ordinal")  # as what numbers can be read, too
    weight: float = 1.0


def _whole(arrow: pa.DataType, end: int, factor: int = 1, origin: int = 0) -> Kind:
    """Whole numbers, few or many different ones, sometimes with an end of the type."""

    def make(rng: Rng, n: int) -> pa.Array:
        found = rng.integers(-100, 100, n) * int(rng.choice([1, factor]))
        cells = [origin + int(v) for v in found]
        if rng.random() < 0.2:
            cells[0] = end
        return pa.array(cells, arrow)

    return Kind(make, averaged=True)


def _floats(arrow: pa.DataType, odd: tuple[Any, str | None] | None, secret: Any) -> Kind:
    def make(rng: Rng, n: int) -> pa.Array:
        numbers = rng.normal(size=n) * 10.0 ** rng.integers(-3, 7)
        return pa.array(np.where(rng.random(n) < rng.choice([0.0, 0.3]), 0.0, numbers), arrow)

    return Kind(make, secret=secret, odd=odd, averaged=True)


def _steps(make: Callable[[np.ndarray], list[Any]], arrow: pa.DataType) -> Callable[..., pa.Array]:
    return lambda rng, n: pa.array(make(rng.integers(-100, 100, n)), arrow)


def _chosen(values: tuple[Any, ...], arrow: pa.DataType) -> Callable[[Rng, int], pa.Array]:
    return lambda rng, n: pa.array([values[i] for i in rng.integers(0, len(values), n)], arrow)


def _digits(low: int, high: int) -> Callable[[Rng], int]:
    return lambda rng: int(rng.integers(low, high)) * 2 + 1


def _late(rng: Rng) -> dt.date:
    return dt.date(7391, int(rng.integers(1, 13)), int(rng.integers(1, 29)))


def _late_moment(zone: dt.tzinfo | None) -> Callable[[Rng], dt.datetime]:
    def make(rng: Rng) -> dt.datetime:
        parts = int(rng.integers(24)), int(rng.integers(60)), 7, int(rng.integers(10**6))
        return dt.datetime.combine(_late(rng), dt.time(*parts), zone)

    return make


def _float32(rng: Rng) -> float:
    return float(np.float32(9.18273e30 * (1 + rng.random())))


def _scaled(*powers: int) -> Callable[[Rng, int], pa.Array]:
    return lambda rng, n: pa.array(rng.normal(size=n) * 10.0 ** float(rng.choice(powers)))


_INFINITE = (math.inf, "infinite")
_NAN = (math.nan, None)
KINDS: dict[str, Kind] = {
    "byte": replace(_whole(pa.int8(), 127), plain=True),
    "short": _whole(pa.int16(), -32_768, 300),
    "int": replace(
        _whole(pa.int32(), -(2**31), 10**6), secret=_digits(1_000_000_000, 1_070_000_000)
    ),
    "long": replace(_whole(pa.int64(), 2**63 - 1, 10**9), secret=_digits(10**15, 4 * 10**15)),
    "far": replace(
        _whole(pa.int64(), 8 * 10**18, 7, 8 * 10**18),
        secret=lambda rng: 8 * 10**18 + int(rng.integers(10**9, 10**10)),
    ),
    "float": _floats(pa.float32(), _NAN, _float32),
    "double": _floats(pa.float64(), _NAN, lambda rng: 9.18273645e15 * (1 + rng.random())),
    "endless": replace(_floats(pa.float64(), _INFINITE, None), weight=0.5),
    "huge": Kind(_scaled(120, 150, 300), odd=(1.7e308, None), doubtful=True, weight=0.2),
    "tiny": Kind(_scaled(-120, -150, -300), doubtful=True, weight=0.2),
    "pareto": Kind(lambda rng, n: pa.array(rng.pareto(0.7, n)), averaged=True),
    "constant": Kind(
        lambda rng, n: pa.array(np.full(n, 7.0)), secret=lambda rng: 8.273645e11 + rng.random()
    ),
    "decimal": Kind(
        _steps(lambda v: [Decimal(int(x)).scaleb(-2) for x in v], pa.decimal128(14, 2)),
        secret=lambda rng: Decimal(int(rng.integers(8 * 10**11, 9 * 10**11))).scaleb(-2),
        averaged=True,
    ),
    "date": Kind(
        _steps(lambda v: [DAY + dt.timedelta(int(x)) for x in v], pa.date32()), secret=_late
    ),
    "beyond": Kind(
        lambda rng, n: pa.array(rng.integers(0, 30, n), pa.int32()).cast(pa.date32()),
        odd=(LATE, "late"),
        others=(),
        weight=0.4,
    ),
    "stamp": Kind(
        _steps(
            lambda v: [MOMENT.replace(tzinfo=dt.UTC) + dt.timedelta(hours=int(x)) for x in v],
            pa.timestamp("us", "UTC"),
        ),
        secret=_late_moment(dt.UTC),
    ),
    "local": Kind(
        _steps(lambda v: [MOMENT + dt.timedelta(hours=int(x)) for x in v], pa.timestamp("us")),
        secret=_late_moment(None),
    ),
    "flag": Kind(
        _steps(lambda v: [bool(x > 0) for x in v], pa.bool_()), others=("nominal",), plain=True
    ),
    "town": Kind(
        _chosen(TOWNS, pa.string()),
        scale="nominal",
        secret=lambda rng: _word(rng, "Timbuktuquux"),
    ),
    "collated": Kind(
        _chosen(TOWNS, pa.string()),
        scale="nominal",
        sql="string collate UTF8_LCASE",
        secret=lambda rng: _word(rng, "Timbuktuquux"),
    ),
    "limited": Kind(
        _chosen(TOWNS, pa.string()),
        scale="nominal",
        sql="varchar(40)",
        secret=lambda rng: _word(rng, "Timbuktuquux"),
        weight=0.5,
    ),
    "village": Kind(_chosen(PLAIN_TOWNS[:5], pa.string()), scale="nominal", plain=True),
    "level": Kind(
        _chosen(LEVELS, pa.string()),
        scale="ordinal",
        declared={"type": "ordinal", "order": list(LEVELS)},
        steps=LEVELS,
        plain=True,
    ),
    "grade": Kind(
        _chosen((5, 1, 3), pa.int32()),
        scale="ordinal",
        declared={"type": "ordinal", "order": [5, 1, 3]},
        steps=(5, 1, 3),
        plain=True,
    ),
}
