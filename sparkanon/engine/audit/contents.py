"""What a release still holds: identifiers, columns nobody listed, and copies of original columns.

Cells are compared by their meaning, whatever type a tool gave them: 1, 1.0 and the text 01 are
one number, a day is a day as a date, a timestamp or a text. So numbers are hashed as numbers and
not as the text that they would make; whole ones beyond bigint by their digits, words without
case and spaces; arrays, structs and maps as a whole. Of each column only sums of hashes reach the
driver, and, with a key, hashes of a sample of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.runs.gates import Gate
from sparkanon.engine.session.session import many_classes
from sparkanon.engine.sql.names import quoted
from sparkanon.numeric.records import Bools
from sparkanon.policy import Policy, Role

GATE = "max_identifiers"
BY_ROW = "row by row"
BY_VALUES = "holds the same values, perhaps in another order"
BY_PART = "holds the same values but for the suppressed rows"
_OWN = "__sparkanon_own"
_FEW = 1_000
SAMPLE_ROWS = 4_000  # of which cells are compared one by one
NEARLY = 0.95  # equal cells that make a copy
_LEAST = 10  # cells that can be compared; fewer say nothing
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)
_TEXTS = (T.StringType, T.CharType, T.VarcharType)
_NUMBER = r"^[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})?$"
_WHOLE = r"^[+-]?[0-9]+([.]0*)?$"
_DIGITS = r"^[+-]?0*([0-9]+?)([.]0*)?$"  # of a whole number, without zeros before and behind
_NOT_ZERO = r"^[+-]?[0.]*[1-9]"
_SPACES = " \t\n\r\u00a0"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?$"


@dataclass(frozen=True)
class Copy:
    """A released column that equals an original one."""

    column: str
    of: str
    how: str  # BY_ROW, BY_VALUES, BY_PART, or in what share of the rows


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

    original: DataFrame  # the rows that take part in the release
    released: DataFrame
    key: str | None = None
    kept: DataFrame | None = None  # x0, ... and z0, ... of the pairing that anonymize kept
    compared: Sequence[Compared] = ()  # their columns
    suppressed: bool = False  # whether originals are missing in the release
    permuted: bool = False  # a release of ours that holds its original values by design


def contents(policy: Policy, pair: Pair) -> Contents:
    """Look at every released column: one aggregation for each table, and one over the pairing."""
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
    # the pairing does not hold the other columns, so their values are compared as a whole
    released = _sums(pair.released, [name for name in names if name not in kept], pair.key)
    roles = (Role.IDENTIFIER, Role.QUASI_IDENTIFIER)
    before = [name for name, column in policy.columns.items() if column.role in roles]
    originals = _sums(_matched(pair), before, pair.key) if released else {}
    how = BY_ROW if pair.key is not None else BY_VALUES
    changed = []
    for name, sums in released.items():
        same = [of for of, others in originals.items() if others == sums]
        if not same:
            changed.append(name)
        if name in same:
            same = [name]  # its own original, rather than another column that equals it as well
        for of in same[:1]:
            if not (pair.permuted and pair.key is None and of == name):
                yield Copy(name, of, how)
    if pair.key is None and pair.suppressed and changed and originals:
        yield from _parts(pair, changed, list(originals))
    if pair.key is not None and changed and originals:
        rows = max(sums.cells for sums in released.values())
        yield from _nearly(pair, pair.key, changed, list(originals), rows)


def _matched(pair: Pair) -> DataFrame:
    """The originals that were released, if a key shows which these are; otherwise all of them."""
    if pair.key is None or not pair.suppressed:
        return pair.original
    own = f"{quoted(pair.key)} as {_OWN}"
    there = pair.released.selectExpr(own)
    return pair.original.selectExpr("*", own).join(there, _OWN, "left_semi")


class _Sums(NamedTuple):
    """How many cells a column has, and the sums of three slices of their hashes.

    They are summed in slices because a sum of whole hashes would not fit into 64 bits.
    """

    cells: int
    high: int
    middle: int
    low: int


def _sums(table: DataFrame, names: Sequence[str], key: str | None) -> dict[str, _Sums]:
    """The sums of each column that has at least two different cells.

    With a key, key and cell are hashed together, so equal sums mean equal cells row by row.
    """
    cells = _meanings(table, names)
    if not cells:
        return {}
    hashed = [f"{cell} as v{i}" for i, cell in enumerate(cells.values())]
    # Different texts can mean the same double, and still distinguish people.
    kinds = enumerate((name, table.schema[name].dataType) for name in cells)
    hashed += [f"{_as_is(name, kind)} as w{i}" for i, (name, kind) in kinds]
    h = "v{0}"
    if key is not None:
        hashed.append(f"{_own(table, key)} as own")
        h = "if(v{0} is null, null, xxhash64(own, v{0}))"
    wanted: list[str] = []
    for i in range(len(cells)):
        w = f"if(v{i} is null, null, w{i})"
        wanted += [
            f"count(v{i})",
            f"coalesce(sum(shiftright({h.format(i)}, 40)), 0)",
            f"coalesce(sum(shiftright({h.format(i)}, 20) & 1048575), 0)",
            f"coalesce(sum({h.format(i)} & 1048575), 0)",
            f"coalesce(min({w}) = max({w}), true)",
        ]
    (row,) = table.selectExpr(*hashed).selectExpr(*wanted).collect()
    found = {}
    for i, name in enumerate(cells):
        *sums, constant = row[5 * i : 5 * i + 5]
        if not constant:  # a constant distinguishes nobody, and would equal other constants
            found[name] = _Sums(*sums)
    return found


def _meanings(table: DataFrame, names: Sequence[str]) -> dict[str, str]:
    """The hash of the cells of each column."""
    schema = table.schema
    return {name: meaning(name, schema[name].dataType) for name in names if name in schema.names}


def _own(table: DataFrame, key: str) -> str:
    return meaning(key, table.schema[key].dataType)


def _nearly(
    pair: Pair, key: str, released: Sequence[str], originals: Sequence[str], rows: int
) -> Iterator[Copy]:
    """Columns that equal an original one in nearly all rows of a sample.

    The hash of its key decides whether a row is in the sample, so both sides sample the same rows.
    The agreement is also taken without the original's most frequent cell: where one cell fills
    nearly a whole column, unrelated columns agree with it by chance.
    """
    every = max(1, rows // SAMPLE_ROWS)
    (z_keys, z), (x_keys, x) = (
        _sampled(table, key, names, every)
        for table, names in ((pair.released, released), (pair.original, originals))
    )
    _, z_rows, x_rows = np.intersect1d(z_keys, x_keys, return_indices=True)
    before = {name: cells.rows(x_rows) for name, cells in x.items()}
    for name in released:
        now = z[name].rows(z_rows)
        shares = {of: _agreement(cells, now) for of, cells in before.items()}
        of = name if shares.get(name, 0.0) >= NEARLY else max(shares, key=lambda one: shares[one])
        if shares[of] >= NEARLY:
            percent = min(int(100 * shares[of]), 99)
            yield Copy(name, of, f"has the same cell in some {percent} % of rows")


def _parts(pair: Pair, released: Sequence[str], originals: Sequence[str]) -> Iterator[Copy]:
    """Columns all of whose values are among an original's, each no more often.

    Most of them must be there once: a few categories lie within many columns. Rows are missing
    and nobody knows which, so that the columns cannot be equal as a whole.
    """

    def counted(table: DataFrame, names: Sequence[str], place: str, number: str) -> DataFrame:
        cells = enumerate(_meanings(table, names).values())
        structs = [f"named_struct('{place}', {i}, 'v', {cell})" for i, cell in cells]
        each = table.selectExpr(f"inline(array({', '.join(structs)}))").filter("v is not null")
        return each.groupBy(place, "v").agg(F.expr(f"count(1) as {number}"))

    z = counted(pair.released, released, "at", "there")
    whole = z.groupBy("at").agg(F.expr("count(1) as cells"), F.expr("sum(there) as rows"))
    x = counted(pair.original, originals, "of", "here")
    within = z.join(x, "v").filter("there <= here").groupBy("at", "of")
    found = within.agg(F.expr("count(1) as common")).join(whole, "at")
    with many_classes(pair.released.sparkSession):
        rows = found.filter("common = cells and cells > 1 and 2 * cells > rows").collect()
    for at, of in sorted({row["at"]: row["of"] for row in reversed(rows)}.items()):
        yield Copy(released[at], originals[of], BY_PART)


class _Cells(NamedTuple):
    hashes: npt.NDArray[np.int64]
    null: Bools

    def rows(self, rows: npt.NDArray[np.intp]) -> _Cells:
        return _Cells(self.hashes[rows], self.null[rows])


def _sampled(
    table: DataFrame, key: str, names: Sequence[str], every: int
) -> tuple[npt.NDArray[np.int64], dict[str, _Cells]]:
    """Hashes of the keys of some rows, and of their cells."""
    own = _own(table, key)
    cells = _meanings(table, names)
    wanted = [f"{own} as own", *(f"{cells[name]} as v{i}" for i, name in enumerate(names))]
    drawn = table.filter(f"pmod({own}, {every}L) = 0").selectExpr(*wanted).toArrow()
    found = {}
    for i, name in enumerate(names):
        column = drawn.column(f"v{i}")
        found[name] = _Cells(column.fill_null(0).to_numpy(), column.is_null().to_numpy())
    return drawn.column("own").to_numpy(), found


def _agreement(x: _Cells, z: _Cells) -> float:
    """The share of equal cells: of all, or without the most frequent original, the lower one."""
    hashes, counts = np.unique(x.hashes[~x.null], return_counts=True)
    if len(x.null) - x.null.sum() - counts.max(initial=0) < _LEAST:
        return 0.0
    equal = (x.hashes == z.hashes) & ~z.null
    rare = ~x.null & (x.hashes != hashes[counts.argmax()])
    return float(min(equal[rare].mean(), equal[~x.null].mean()))


def _unchanged(pair: Pair) -> dict[str, bool]:
    """For each column of the pairing, whether every record still has its own cell."""
    if pair.kept is None:
        return {}
    schema = pair.kept.schema
    comparable: dict[str, tuple[str, str]] = {}
    for i, compared in enumerate(pair.compared):
        x, z = (meaning(f"{side}{i}", schema[f"{side}{i}"].dataType) for side in "xz")
        comparable[compared.name] = (x, z)
    found = dict.fromkeys(comparable, False)
    # The first rows rule out most columns, so that only the rest is compared in all rows.
    for rows in (pair.kept.limit(_FEW), pair.kept):
        if not comparable:
            break
        equal = [f"bool_and(({x}) <=> ({z}))" for x, z in comparable.values()]
        differs = [f"min({x}) < max({x})" for x, _ in comparable.values()]
        (row,) = rows.selectExpr(*equal, *differs).collect()
        found |= {
            name: bool(row[i] and row[i + len(comparable)]) for i, name in enumerate(comparable)
        }
        comparable = {name: cells for i, (name, cells) in enumerate(comparable.items()) if row[i]}
    return found


def meaning(name: str, kind: T.DataType) -> str:
    """A hash of the cell that equal values of other types share, in SQL."""
    cell = quoted(name)
    if isinstance(kind, T.IntegralType):
        return _hashed(f"cast({cell} as bigint)", cell)
    if isinstance(kind, T.DoubleType):
        return _number(cell)
    if isinstance(kind, T.FloatType):
        return _number(f"cast(cast({cell} as string) as double)")
    if isinstance(kind, T.DecimalType):
        whole = f"cast(floor({cell}) as string)"
        return f"if({cell} = floor({cell}), {_digits(whole)}, {_number(_double(cell))})"
    if isinstance(kind, T.BooleanType):
        return _hashed(f"cast({cell} as string)", cell)
    if isinstance(kind, _TIMES):
        return _hashed(_local(cell), cell)
    if isinstance(kind, _TEXTS):
        return _text(f"trim(cast({cell} as string))")
    if isinstance(kind, T.BinaryType):
        words = f"cast({cell} as string)"
        return f"if(is_valid_utf8({words}), {_text(f'trim({words})')}, xxhash64({cell}))"
    return f"if({cell} is null, null, {_as_is(name, kind)})"


def _as_is(name: str, kind: T.DataType) -> str:
    """The hash of the cell itself; Spark hashes neither maps nor variants."""
    nested = kind.simpleString()
    odd = any(word in nested for word in ("map<", "variant"))
    return f"xxhash64(to_json({quoted(name)}))" if odd else f"xxhash64({quoted(name)})"


def _hashed(sql: str, cell: str) -> str:
    return f"if({cell} is null, null, xxhash64({sql}))"  # xxhash64 hashes a null to a number


def _number(double: str) -> str:
    """The hash of a double: a whole number is hashed as an integer; NaN counts as null."""
    large = f"cast(cast({double} as decimal(38, 0)) as string)"
    return (
        f"case when {double} is null or isnan({double}) then null"
        f" when {double} = rint({double}) and abs({double}) < 9.2e18"
        f" then xxhash64(cast({double} as bigint))"
        f" when abs({double}) between 9.2e18 and 1e37 then {_digits(large)}"
        f" else xxhash64({double}) end"
    )


def _double(cell: str) -> str:
    return f"try_cast({cell} as double)"


def _digits(whole: str) -> str:
    """The hash of a whole number given as text: as an integer if it fits, else by its digits."""
    sign = f"if(startswith({whole}, '-'), '-', '')"
    digits = f"concat({sign}, regexp_extract({whole}, '{_DIGITS}', 1))"
    integer = f"try_cast({digits} as bigint)"
    return f"if({integer} is null, xxhash64({digits}), xxhash64({integer}))"


def _local(cell: str) -> str:
    """The cell as local time; a day is taken as its midnight."""
    return f"cast({cell} as timestamp_ntz)"


def _text(text: str) -> str:
    time = _local(f"try_cast({text} as timestamp)")
    word = f"xxhash64(translate(lower({text}), '{_SPACES}', ''))"
    double = _double(text)
    beyond = f"{double} = double('infinity') or {double} = 0 and {text} rlike '{_NOT_ZERO}'"
    # A number or a time begins with a digit, a sign or a dot: other texts skip the slow patterns.
    return (
        f"case when {text} = '' then null"
        f" when ascii({text}) between 43 and 57 then case"
        f" when {text} rlike '{_WHOLE}' then {_digits(text)}"
        f" when {text} rlike '{_NUMBER}' then if({beyond}, {word}, {_number(double)})"
        f" when {text} rlike '{_TIME}' then if({time} is null, {word}, xxhash64({time}))"
        f" else {word} end"
        f" when {text} is null or lower({text}) = 'nan' then null else {word} end"
    )
