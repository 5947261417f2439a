"""Prepare two tables of any origin for a comparison, or say why they cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.engine.cells.released import released_cover, released_number, unreadable_cell
from sparkanon.engine.pairs.pairs import Compared, Sides, renamed
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.table.columns import Quasi
from sparkanon.errors import InputError, Problem, counted

_KEY = "__sparkanon_pair"


def compare(
    quasi: Sequence[Quasi], sensitive: Sequence[str], released: DataFrame
) -> tuple[tuple[Compared, ...], tuple[str, ...]]:
    """How each column is read on both sides, and the sensitive columns that are released."""
    fields = {field.name: field for field in released.schema.fields}
    compared: list[Compared] = []
    problems: list[Problem] = []
    for q in quasi:
        if q.name not in fields:
            continue
        i = len(compared)
        z = released_number(f"z{i}", q, fields[q.name].dataType)
        if isinstance(z, Problem):
            problems.append(Problem(f"columns.{q.name}", z.message))
            continue
        shift = f" - cast({q.shift} as double)" if q.shift else ""
        x = replace(q, name=f"x{i}").number
        covers = released_cover(f"z{i}", q, fields[q.name].dataType)
        number = f"({z}){shift}" if shift else z
        compared.append(Compared(q.name, q.scale, x, number, covers, q.origin))
    problems += _unreadable(quasi, released) if not problems else []
    if problems:
        raise InputError(problems)
    if not compared:
        raise InputError(Problem("columns", "no quasi-identifier of the policy is in the release"))
    return tuple(compared), tuple(name for name in sensitive if name in fields)


def _unreadable(quasi: Sequence[Quasi], released: DataFrame) -> list[Problem]:
    """Refuse cells that cannot be read: they would count as suppressed and understate a risk."""
    fields = {field.name: field.dataType for field in released.schema.fields}
    checks = [(q, unreadable_cell(q, fields[q.name])) for q in quasi if q.name in fields]
    asked = [(q, sql) for q, sql in checks if sql is not None]
    if not asked:
        return []
    (counts,) = released.selectExpr(*(f"count_if({sql})" for _, sql in asked)).collect()
    return [
        Problem(
            f"columns.{q.name}",
            f"{counted(n, 'cell of the release is', 'cells of the release are')} no value, range "
            "or set of the original's type; for labels, say type: nominal",
        )
        for (q, _), n in zip(asked, counts, strict=True)
        if n
    ]


def apart(
    compared: Sequence[Compared],
    sensitive: Sequence[str],
    original: DataFrame,
    released: DataFrame,
) -> Sides:
    """Both tables without pairs, because nothing says which rows belong together."""
    names = [c.name for c in compared]
    x = original.selectExpr(*renamed(names, "x"))
    z = released.selectExpr(*renamed(names, "z"), *renamed(sensitive, "s"))
    return Sides(x, z, None, tuple(compared), tuple(sensitive))


def joined(
    compared: Sequence[Compared],
    sensitive: Sequence[str],
    original: DataFrame,
    released: DataFrame,
    key: str,
    suppression: bool,
) -> Sides:
    """Both tables with the pairs of rows that have the same key."""
    problems = list(_key_problems(original, released, key))
    if problems:
        raise InputError(problems)
    names = [c.name for c in compared]
    x = original.selectExpr(f"{quoted(key)} as {_KEY}", *renamed(names, "x"))
    z = released.selectExpr(
        f"{quoted(key)} as {_KEY}", *renamed(names, "z"), *renamed(sensitive, "s")
    )
    pair = x.join(z, _KEY)
    counted, pairs = _counted(x), pair.count()
    problems = list(_count_problems(counted, _counted(z), pairs, suppression))
    if problems:
        raise InputError(problems)
    suppressed = counted[0] - pairs
    return Sides(
        x.drop(_KEY),
        z.drop(_KEY),
        pair.drop(_KEY),
        tuple(compared),
        tuple(sensitive),
        suppressed=suppressed,
        unpublished=x.join(z, _KEY, "left_anti").drop(_KEY) if suppressed else None,
    )


def _key_problems(original: DataFrame, released: DataFrame, key: str) -> Iterator[Problem]:
    kinds = []
    for side, table in (("original", original), ("release", released)):
        if key not in table.columns:
            yield Problem("--key", f"the {side} has no column '{key}'")
            continue
        kind = table.schema[key].dataType
        kinds.append(kind)
        if isinstance(kind, T.MapType | T.VariantType):
            yield Problem("--key", f"a column of type {kind.simpleString()} is no key")
    numbers = [isinstance(kind, T.NumericType) for kind in kinds]
    if len(kinds) == 2 and kinds[0] != kinds[1] and not all(numbers):
        one, other = (kind.simpleString() for kind in kinds)
        yield Problem("--key", f"is {one} in the original and {other} in the release")


def _counted(table: DataFrame) -> tuple[int, int]:
    (row,) = table.selectExpr("count(1) as n", f"count(distinct {_KEY}) as keys").collect()
    return int(row["n"]), int(row["keys"])


def _count_problems(
    x: tuple[int, int], z: tuple[int, int], pairs: int, suppression: bool
) -> Iterator[Problem]:
    (rows_x, keys_x), (rows_z, keys_z) = x, z
    for side, rows, keys in (("original", rows_x, keys_x), ("release", rows_z, keys_z)):
        if keys < rows:
            one, several = f"row of the {side} has", f"rows of the {side} have"
            text = counted(
                rows - keys, f"{one} no key of its own", f"{several} no key of their own"
            )
            yield Problem("--key", text)
            return
    if pairs < rows_z:
        found = counted(rows_z - pairs, "row of the release has", "rows of the release have")
        yield Problem("--key", f"{found} a key that the original does not have")
    elif rows_z < rows_x and not suppression:
        yield fewer_rows(rows_x, rows_z)


def fewer_rows(rows_x: int, rows_z: int) -> Problem:
    if rows_z > rows_x:
        rows = counted(rows_z, "row")
        text = f"the release has {rows}, more than the {rows_x:,} of the original"
        return Problem("release", text)
    return Problem(
        "audit.suppression",
        f"the original has {rows_x:,} rows and the release {rows_z:,}; if rows were suppressed, "
        "say audit: {suppression: true}",
    )
