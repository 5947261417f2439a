"""What a release still holds: identifiers, columns nobody listed, and copies of original columns.

Cells are compared by their meaning, whatever type a tool gave them: 1, 1.0 and the text 01 are
one number, a day is a day as a date, a timestamp or a text. So numbers are hashed as numbers and
not as the text that they would make. Of each column only sums of hashes reach the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.runs.gates import Gate
from sparkanon.engine.sql.names import quoted
from sparkanon.policy import Policy, Role

GATE = "max_identifiers"
BY_ROW = "row by row"
BY_VALUES = "holds the same values, perhaps in another order"
_OWN = "__sparkanon_own"
_FEW = 1_000
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)
_TEXTS = (T.StringType, T.CharType, T.VarcharType)
_NUMBER = r"^[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})?$"
_WHOLE = r"^[+-]?[0-9]+$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?$"


@dataclass(frozen=True)
class Copy:
    """A released column that equals an original one."""

    column: str
    of: str
    how: str  # BY_ROW or BY_VALUES


@dataclass(frozen=True)
class Contents:
    """Columns of a release that somebody should look at, by name."""

    identifiers: tuple[str, ...] = ()  # by role, or because they equal an identifier
    unlisted: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()

    @property
    def gate(self) -> Gate:
        """No identifier may be released; this stands in every audit, like the gate on k."""
        found = float(len(self.identifiers))
        return Gate(GATE, 0.0, found, passed=not self.identifiers, compared=found)

    @property
    def failure(self) -> str:
        """What is wrong if the gate is not passed."""
        of = {copy.column: copy.of for copy in self.copies}
        named = (f"'{n}' (a copy of '{of[n]}')" if n in of else f"'{n}'" for n in self.identifiers)
        count = len(self.identifiers)
        what = "1 identifier" if count == 1 else f"{count} identifiers"
        return f"the release still holds {what}: {', '.join(named)}; drop what names a person"

    def to_dict(self) -> dict[str, Any]:
        return {
            "identifiers": list(self.identifiers),
            "unlisted": list(self.unlisted),
            "copies": [asdict(copy) for copy in self.copies],
        }


@dataclass(frozen=True)
class Pair:
    """Two tables, and what is known about which row was whose."""

    original: DataFrame  # the rows that take part
    released: DataFrame
    key: str | None = None
    kept: DataFrame | None = None  # x0, ... and z0, ... of the pairing that anonymize kept
    compared: Sequence[Compared] = ()  # their columns
    suppressed: bool = False  # whether originals are missing in the release
    permuted: bool = False  # a release of ours that holds its original values by design


def contents(policy: Policy, pair: Pair) -> Contents:
    """Look at every released column; one aggregation a side, and one over the kept pairs."""
    names = [name for name in pair.released.columns if name != pair.key]
    copies = tuple(_copies(policy, pair, names))
    named = {name.lower() for name in policy.with_role(Role.IDENTIFIER)}
    of_people = {copy.column for copy in copies if policy.columns[copy.of].role is Role.IDENTIFIER}
    return Contents(
        tuple(name for name in names if name.lower() in named or name in of_people),
        tuple(name for name in pair.released.columns if name not in policy.columns),
        copies,
    )


def _copies(policy: Policy, pair: Pair, names: Sequence[str]) -> Iterator[Copy]:
    kept = _unchanged(pair)
    yield from (Copy(name, name, BY_ROW) for name in names if kept.get(name))
    # of the others the pairs know nothing, so their values are compared
    released = _sums(pair.released, [name for name in names if name not in kept], pair.key)
    roles = (Role.IDENTIFIER, Role.QUASI_IDENTIFIER)
    before = [name for name, column in policy.columns.items() if column.role in roles]
    originals = _sums(_matched(pair), before, pair.key) if released else {}
    how = BY_ROW if pair.key is not None else BY_VALUES
    for name, sums in released.items():
        same = [of for of, others in originals.items() if others == sums]
        if name in same:
            same = [name]  # rather than another column that is its copy
        for of in same[:1]:
            if not (pair.permuted and pair.key is None and of == name):
                yield Copy(name, of, how)


def _matched(pair: Pair) -> DataFrame:
    """Of the originals those that were released, where a key tells them."""
    if pair.key is None or not pair.suppressed:
        return pair.original
    own = f"{quoted(pair.key)} as {_OWN}"
    there = pair.released.selectExpr(own)
    return pair.original.selectExpr("*", own).join(there, _OWN, "left_semi")


def _sums(
    table: DataFrame, names: Sequence[str], key: str | None
) -> dict[str, tuple[int, int, int, int]]:
    """For each column with two different cells: how many cells, and the sums of their hashes.

    With a key the hash is of key and cell, so equal sums mean equal cells row by row.
    """
    schema = table.schema
    cells = {name: meaning(name, schema[name].dataType) for name in names if name in schema.names}
    told = {name: cell for name, cell in cells.items() if cell is not None}
    if not told:
        return {}
    hashed = [f"{cell} as v{i}" for i, cell in enumerate(told.values())]
    h = "v{0}"
    if key is not None:
        own = meaning(key, schema[key].dataType) or f"xxhash64({quoted(key)})"
        hashed.append(f"{own} as own")
        h = "if(v{0} is null, null, xxhash64(own, v{0}))"
    wanted: list[str] = []
    for i in range(len(told)):
        # in slices: a sum of whole hashes would not fit into 64 bits
        wanted += [
            f"count(v{i})",
            f"coalesce(sum(shiftright({h.format(i)}, 40)), 0)",
            f"coalesce(sum(shiftright({h.format(i)}, 20) & 1048575), 0)",
            f"coalesce(sum({h.format(i)} & 1048575), 0)",
            f"coalesce(min(v{i}) = max(v{i}), true)",
        ]
    (row,) = table.selectExpr(*hashed).selectExpr(*wanted).collect()
    found = {}
    for i, name in enumerate(told):
        count, high, middle, low, constant = row[5 * i : 5 * i + 5]
        if not constant:  # one value in all rows tells nobody apart, and equals many columns
            found[name] = (count, high, middle, low)
    return found


def _unchanged(pair: Pair) -> dict[str, bool]:
    """For each column of the kept pairs whether every record still has its own cell."""
    if pair.kept is None:
        return {}
    schema = pair.kept.schema
    told: dict[str, tuple[str, str]] = {}
    for i, compared in enumerate(pair.compared):
        x, z = (meaning(f"{side}{i}", schema[f"{side}{i}"].dataType) for side in "xz")
        if x is not None and z is not None:
            told[compared.name] = (x, z)
    found = dict.fromkeys(told, False)
    # most columns change in some of the first rows, and need no look at the others
    for rows in (pair.kept.limit(_FEW), pair.kept):
        if not told:
            break
        equal = [f"bool_and(({x}) <=> ({z}))" for x, z in told.values()]
        differs = [f"min({x}) < max({x})" for x, _ in told.values()]
        (row,) = rows.selectExpr(*equal, *differs).collect()
        found |= {name: bool(row[i] and row[i + len(told)]) for i, name in enumerate(told)}
        told = {name: cells for i, (name, cells) in enumerate(told.items()) if row[i]}
    return found


def meaning(name: str, kind: T.DataType) -> str | None:
    """A hash of the cell that equal values of other types share, in SQL; None: not compared."""
    cell = quoted(name)
    if isinstance(kind, T.IntegralType):
        return _hashed(f"cast({cell} as bigint)", cell)
    if isinstance(kind, T.DoubleType):
        return _number(cell)
    if isinstance(kind, T.FloatType):
        return _number(f"cast(cast({cell} as string) as double)")
    if isinstance(kind, T.DecimalType):
        return _whole_or_number(cell, f"{cell} = floor({cell})")
    if isinstance(kind, T.BooleanType):
        return _hashed(f"cast({cell} as string)", cell)
    if isinstance(kind, _TIMES):
        return _hashed(_local(cell), cell)
    if isinstance(kind, _TEXTS):
        return _text(f"trim(cast({cell} as string))")
    return None


def _hashed(sql: str, cell: str) -> str:
    return f"if({cell} is null, null, xxhash64({sql}))"  # alone it would hash a null, too


def _number(double: str) -> str:
    """A whole number as integers are hashed; NaN is no value."""
    return (
        f"case when {double} is null or isnan({double}) then null"
        f" when {double} = rint({double}) and abs({double}) < 9.2e18"
        f" then xxhash64(cast({double} as bigint)) else xxhash64({double}) end"
    )


def _whole_or_number(cell: str, whole: str) -> str:
    """Of decimals and texts: integers by all of their digits."""
    integer = f"try_cast({cell} as bigint)"
    double = _number(f"try_cast({cell} as double)")
    return f"if({whole} and {integer} is not null, xxhash64({integer}), {double})"


def _local(cell: str) -> str:
    """Local time; a day is its midnight."""
    return f"cast({cell} as timestamp_ntz)"


def _text(text: str) -> str:
    time = _local(f"try_cast({text} as timestamp)")
    word = f"xxhash64({text})"
    number = _whole_or_number(text, f"{text} rlike '{_WHOLE}'")
    # the first character spares most words the patterns: it is a digit, a sign or a dot
    return (
        f"case when {text} = '' then null"
        f" when ascii({text}) between 43 and 57 then case"
        f" when {text} rlike '{_NUMBER}' then {number}"
        f" when {text} rlike '{_TIME}' then if({time} is null, {word}, xxhash64({time}))"
        f" else {word} end"
        f" when lower({text}) in ('true', 'false') then xxhash64(lower({text}))"
        f" when {text} is null or lower({text}) = 'nan' then null else {word} end"
    )
