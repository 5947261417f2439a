"""Read the cells of a release that another tool made.

Ranges, sets, prefixes, suppression and plain values, as ARX, sdcMicro, mosaicrown, R's and
pandas' `cut` write them. Every function takes the SQL of a released cell (of any type that can
be cast to text) and returns SQL. None fails on a cell, whatever it holds: what cannot be read is
null, and `is_readable` counts it. For several answers about a column, select `bounds` once.
"""

from __future__ import annotations

from sparkanon.engine.cells import shapes
from sparkanon.engine.cells.kinds import TEXT, Kind, Reading
from sparkanon.engine.cells.shapes import BOUNDS, CELL, ONE, let


def bounds(cell: str, kind: Kind) -> str:
    """A struct of low, high (doubles; null: no end) and low_open, high_open; null: unreadable.

    The ends are those written: [30-40) ends at 40. The prefix 12* ends at 129.
    """
    return let(CELL, shapes.tidy(cell, kind), shapes.bounds(CELL, kind))


def number(cell: str, kind: Kind) -> str:
    """One number for the cell: the value, the middle of a range or set, the only end there is."""
    b = BOUNDS
    halves = f"{b}.low / 2 + {b}.high / 2"  # the sum of both ends could overflow
    middle = f"if({b}.low = {b}.high, {b}.low, coalesce({halves}, {b}.low, {b}.high))"
    return let(b, bounds(cell, kind), middle)


def is_suppressed(cell: str, kind: Kind) -> str:
    """Whether a cell is suppressed: null, empty or stars; also NA and such if it has no words."""
    return let(CELL, shapes.tidy(cell, kind), shapes.suppressed(CELL, kind))


def is_readable(cell: str, kind: Kind) -> str:
    """Whether the cell can be read; a cell that is read as text always can."""
    return "true" if kind.reading is Reading.TEXT else f"({bounds(cell, kind)} is not null)"


def spans(cell: str, kind: Kind) -> str:
    """What a cell covers if it stands for many numbers: an array of structs as of `bounds`.

    Every member of a set has a struct of its own; the prefix 12* ends at 130, which is not in it.
    The array is null for a plain value and for a suppressed cell without stars, holds one null for
    a cell of stars, and is empty if the cell cannot be read.
    """
    b = BOUNDS
    plain = f"{b}.low is not null and {b}.low <=> {b}.high"
    member = shapes.struct(f"{ONE}.low", f"{ONE}.high")
    members = f"transform({shapes.set_values(CELL, kind)}, {ONE} -> {member})"
    cases = f"when {b} is null then array() when {plain} then null"
    cases += f" when {shapes.is_set(CELL)} then {members}"
    if kind.is_number:  # 12* also covers 129.5, and -12* covers -129.5
        above = shapes.struct(f"{b}.low", f"{b}.high + 1", high_open="true")
        below = shapes.struct(f"{b}.low - 1", f"{b}.high", low_open="true")
        prefix = f"array(if({b}.high > 0, {above}, {below}))"
        cases += f" when {shapes.has_prefix(CELL, kind)} then {prefix}"
    read = let(b, shapes.bounds(CELL, kind), f"case {cases} else array({b}) end")
    stars = f"if(contains({CELL}, '*'), array(cast(null as {shapes.STRUCT})), null)"
    found = f"if({shapes.suppressed(CELL, kind)}, {stars}, {read})"
    return let(CELL, shapes.tidy(cell, kind), f"cast({found} as array<{shapes.STRUCT}>)")


def words(cell: str) -> str:
    """The tidy text of a nominal cell; null if it is suppressed without stars."""
    stars = f"if(contains({CELL}, '*'), {CELL}, null)"
    return let(
        CELL, shapes.tidy(cell, TEXT), f"if({shapes.suppressed(CELL, TEXT)}, {stars}, {CELL})"
    )
