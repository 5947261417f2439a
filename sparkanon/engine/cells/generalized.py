"""Read the cells of a release that another tool made.

Ranges, sets, prefixes, suppression and plain values, as ARX, sdcMicro, mosaicrown, R's and
pandas' `cut` write them. Every function takes the SQL of a released cell (of any type that can
be cast to text) and returns SQL. None fails on a cell, whatever it holds: what cannot be read is
null, and `is_readable` counts it. For several answers about a column, select `bounds` once.
"""

from __future__ import annotations

from sparkanon.engine.cells import shapes
from sparkanon.engine.cells.kinds import TEXT, Kind, Reading
from sparkanon.engine.cells.shapes import BOUNDS, CELL, ONE, PARTS, VALUE, let
from sparkanon.engine.sql.names import text


def bounds(cell: str, kind: Kind) -> str:
    """A struct of low, high (doubles; null: no end) and low_open, high_open; null: unreadable.

    The ends are those written: [30-40) ends at 40. The prefix 12* ends at 129.
    """
    return let(CELL, shapes.tidy(cell, kind), shapes.bounds(CELL, kind))


def low(cell: str, kind: Kind) -> str:
    """The lower end; null where there is none, suppressed or unreadable."""
    return f"{bounds(cell, kind)}.low"


def high(cell: str, kind: Kind) -> str:
    """The upper end; null where there is none, suppressed or unreadable."""
    return f"{bounds(cell, kind)}.high"


def number(cell: str, kind: Kind) -> str:
    """One number for the cell: the value, the middle of a range or set, the only end there is."""
    b = BOUNDS
    halves = f"{b}.low / 2 + {b}.high / 2"  # the sum of both ends could overflow
    middle = f"if({b}.low = {b}.high, {b}.low, coalesce({halves}, {b}.low, {b}.high))"
    return let(b, bounds(cell, kind), middle)


def is_suppressed(cell: str, kind: Kind) -> str:
    """Whether nothing is published: null, empty, stars; where no words are, also NA and such."""
    return let(CELL, shapes.tidy(cell, kind), shapes.suppressed(CELL, kind))


def is_readable(cell: str, kind: Kind) -> str:
    """Whether the cell has a meaning; as text every cell has one."""
    return "true" if kind.reading is Reading.TEXT else f"({bounds(cell, kind)} is not null)"


def is_generalized(cell: str, kind: Kind) -> str:
    """Whether the cell stands for more than one value, and not for all. [30-30] is one value."""
    if kind.reading is Reading.TEXT:
        several = f"endswith({CELL}, '*') or {shapes.is_set(CELL)} and contains({CELL}, ',')"
    else:
        single = f"{BOUNDS}.low is not null and {BOUNDS}.low <=> {BOUNDS}.high"
        read = f"{BOUNDS} is not null and not ({single})"
        several = let(BOUNDS, shapes.bounds(CELL, kind), read)
    found = f"not {shapes.suppressed(CELL, kind)} and ({several})"
    return let(CELL, shapes.tidy(cell, kind), found)


def spans(cell: str, kind: Kind) -> str:
    """What a cell covers that stands for many numbers: an array of structs as of `bounds`.

    The members of a set are apart, and the prefix 12* reaches up to 130, which is not in it. Null
    for a plain value and where nothing is published; if stars say so, an array of one null. Empty
    if the cell cannot be read.
    """
    b = BOUNDS
    plain = f"{b}.low is not null and {b}.low <=> {b}.high"
    member = shapes.struct(f"{ONE}.low", f"{ONE}.high")
    members = f"transform({shapes.set_values(CELL, kind)}, {ONE} -> {member})"
    cases = f"when {b} is null then array() when {plain} then null"
    cases += f" when {shapes.is_set(CELL)} then {members}"
    if kind.is_number:  # as in `covers`
        above = shapes.struct(f"{b}.low", f"{b}.high + 1", high_open="true")
        below = shapes.struct(f"{b}.low - 1", f"{b}.high", low_open="true")
        prefix = f"array(if({b}.high > 0, {above}, {below}))"
        cases += f" when {shapes.has_prefix(CELL, kind)} then {prefix}"
    read = let(b, shapes.bounds(CELL, kind), f"case {cases} else array({b}) end")
    stars = f"if(contains({CELL}, '*'), array(cast(null as {shapes.STRUCT})), null)"
    found = f"if({shapes.suppressed(CELL, kind)}, {stars}, {read})"
    return let(CELL, shapes.tidy(cell, kind), f"cast({found} as array<{shapes.STRUCT}>)")


def words(cell: str) -> str:
    """The tidy text of a nominal cell; null where nothing is published, unless stars say so."""
    stars = f"if(contains({CELL}, '*'), {CELL}, null)"
    return let(
        CELL, shapes.tidy(cell, TEXT), f"if({shapes.suppressed(CELL, TEXT)}, {stars}, {CELL})"
    )


def covers(cell: str, original: str, kind: Kind) -> str:
    """Whether the original can be behind the cell: `Quasi.number` of origin 0, or its text.

    Suppression covers all, a null original included; an unreadable cell covers none.
    """
    if kind.reading is Reading.TEXT:
        inside = _text_covers(CELL, shapes.tidy(original, kind))
    else:
        inside = _number_covers(CELL, f"({original})", kind)
    found = f"{shapes.suppressed(CELL, kind)} or coalesce({inside}, false)"
    return let(CELL, shapes.tidy(cell, kind), found)


def _number_covers(cell: str, original: str, kind: Kind) -> str:
    b, o = BOUNDS, original
    members = shapes.set_values(cell, kind)
    in_set = f"exists({members}, {ONE} -> {o} between {ONE}.low and {ONE}.high)"
    cases = f"when {b} is null then false when {shapes.is_set(cell)} then {in_set}"
    if kind.is_number:  # 129.5 is behind 12*, as -129.5 is behind -12*
        cut = f"if({b}.high > 0, floor({o}), ceil({o}))"
        cases += f" when {shapes.has_prefix(cell, kind)} then {cut} between {b}.low and {b}.high"
    above = f"coalesce(if({b}.low_open, {b}.low < {o}, {b}.low <= {o}), {o} is not null)"
    below = f"coalesce(if({b}.high_open, {o} < {b}.high, {o} <= {b}.high), {o} is not null)"
    return let(b, shapes.bounds(cell, kind), f"case {cases} else {above} and {below} end")


def _text_covers(cell: str, original: str) -> str:
    """A member may hold commas itself, so it is looked for among them, bare or in quotes."""
    joined = f"concat(',', array_join({shapes.set_texts(cell)}, ','), ',')"
    spaced = f"array_join(transform(split({original}, ','), {ONE} -> {shapes.trim(ONE)}), ',')"
    quotes = f"array('', {', '.join(map(text, shapes.QUOTES))})"
    wanted = f"concat(',', {ONE}, {VALUE}, {ONE}, ',')"
    member = let(VALUE, spaced, f"exists({quotes}, {ONE} -> contains({PARTS}, {wanted}))")
    in_set = let(PARTS, joined, member)
    starts = f"startswith({original}, trim(TRAILING '*' FROM {cell}))"
    return (
        f"{cell} = {original} or endswith({cell}, '*') and {starts} "
        f"or {shapes.is_set(cell)} and {in_set}"
    )
