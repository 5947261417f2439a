"""A pair of tables side by side: x0, x1, ... are original cells, z0, z1, ... released ones.

The sensitive columns of the release are s0, s1, ... Columns are numbered because original and
release have the same names, and because Arrow reads a dot in a name as access to a struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.engine.cells.released import released_cover, released_number
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.table.columns import Quasi
from sparkanon.numeric.records import Scale


@dataclass(frozen=True)
class Compared:
    """One quasi-identifier from both sides, as SQL over the cells of a pair."""

    name: str
    scale: Scale
    x: str  # the original cell as a double, or as text if the column is nominal
    z: str
    covers: str | None = None  # what the released cell covers, from `released_cover`
    origin: int = 0  # `x` and `z` are counted from here; the numbers of `covers` from 0


@dataclass(frozen=True)
class Sides:
    """The two tables of an audit, and their pairs of rows if it is known which belong together."""

    original: DataFrame  # x0, x1, ...
    released: DataFrame  # z0, ..., s0, ...
    pair: DataFrame | None
    compared: tuple[Compared, ...]
    sensitive: tuple[str, ...]
    group: str | None = None  # the column with group numbers, if the release draws from groups
    blocks: tuple[tuple[str, ...], ...] = ()  # columns whose cells were moved as a unit
    suppressed: int = 0  # originals whose key is not in the release
    unpublished: DataFrame | None = None  # those originals, if there are any
    no_classes: str | None = None  # why nothing can be said about classes or groups
    no_means: str | None = None  # why the values cannot be means of groups

    @property
    def released_cells(self) -> list[str]:
        return [f"z{i}" for i in range(len(self.compared))]


def own_release(quasi: Sequence[Quasi]) -> tuple[Compared, ...]:
    """How columns are compared in our own release, whose cells have the types of the policy."""
    return tuple(
        Compared(
            q.name,
            q.scale,
            replace(q, name=f"x{i}").number,
            _released(q, f"z{i}"),
            released_cover(f"z{i}", q, q.released) if q.as_text else None,
            q.origin,
        )
        for i, q in enumerate(quasi)
    )


def _released(q: Quasi, cell: str) -> str:
    if q.as_text:
        found = released_number(cell, q, T.StringType())
        return f"({found}) - {q.shift}" if q.shift else str(found)
    if q.as_double:
        return f"{cell} - cast({q.shift} as double)" if q.shift else f"cast({cell} as double)"
    return replace(q, name=cell).number


def renamed(names: Sequence[str], letter: str, table: str = "") -> list[str]:
    """These columns as x0, x1, ... (or z, or s)."""
    return [f"{table}{quoted(name)} as {letter}{i}" for i, name in enumerate(names)]
