"""The shapes of a released cell in SQL: suppressed, set, prefix, range or plain value.

Each shape becomes a struct of `low`, `high` (doubles; null: no end), `low_open` and `high_open`;
the struct is null where the cell cannot be read. All functions expect a cell as `tidy` leaves it.
"""

from __future__ import annotations

from sparkanon.engine.cells.kinds import Kind
from sparkanon.engine.sql.names import RESERVED, text

QUOTES = "\"'"
# Names of lambda variables. They would hide columns of the same name, so no table has such names.
CELL, PARTS, ONE, BOUNDS, VALUE = (
    f"{RESERVED}_let_{name}" for name in ("cell", "parts", "one", "bounds", "value")
)

_SPACES = " \t\n\r\f\v\u00a0\u200b\u2007\u2009\u202f\u3000\ufeff"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"
_MARK = "\x01"  # separates the pieces of a range; `tidy` removes it from cells
_MISSING = ("na", "n/a", "nan", "nat", "null", "none", "<na>", "?")
_NO_END = "cast(null as double)"
STRUCT = "struct<low: double, high: double, low_open: boolean, high_open: boolean>"

_NUMBER_PREFIX = r"^[+-]?+\d++\*++$"
_DATE_PREFIX = r"^(?:\d{1,4}|\d{4}-\d{1,2}|\d{4}-\d{2}-\d{1,2})$"
_INFINITY = r"(?i:inf(?:inity)?|\x{221e})"
_RANGES = (
    r"(ONE)",
    r"\[\s*+(ONE)\s*+\]",
    # ARX writes [30, 40[ and R (-Inf,40]
    r"([\[\](])\s*+(?:(ONE)|-INF)\s*+(?:,|;|\.\.|-|(?i:to))\s*+(?:(ONE)|\+?INF)\s*+([\[\])])",
    r"(ONE)\s*+(?:\.\.|-|(?i:to))\s*+(ONE)",
    r"(>=?|\x{2265})\s*+(ONE)",
    r"(<=?|\x{2264})\s*+(ONE)",
    r"(ONE)\s*+\+",
)
_RANGE_PIECES = ("$3$9", "$1$2$4$7$10$13", "$1$2$5$8$12", "$6$11")  # groups of `_RANGES`


def let(name: str, value: str, body: str) -> str:
    """SQL that binds a value to a name in `body`, so that it is written and computed once."""
    return f"transform(array({value}), {name} -> {body})[0]"


def trim(value: str) -> str:
    # Not by a regular expression: `\s+$` takes quadratic time on a cell full of spaces.
    return f"trim(BOTH {text(_SPACES)} FROM {value})"


def tidy(cell: str, kind: Kind) -> str:
    """The cell's text without outer spaces; if it holds no words, with plain dashes and spaces."""
    own = f"cast({cell} as string)"
    if kind.has_free_words:
        return trim(f"translate({own}, {text(_MARK)}, ' ')")
    plain = "-" * len(_DASHES) + " " * len(_SPACES) + "?"
    return f"trim(translate({own}, {text(_DASHES + _SPACES + _MARK)}, '{plain}'))"


def tidied(text: str) -> str:
    """What `tidy` makes of a text that may be words, in Python."""
    return text.replace(_MARK, " ").strip(_SPACES)


def bounds(cell: str, kind: Kind) -> str:
    """The struct of a tidy cell."""
    return (
        f"case when {suppressed(cell, kind)} then {struct(_NO_END, _NO_END)} "
        f"when {is_set(cell)} then {_set_bounds(cell, kind)} "
        f"when {has_prefix(cell, kind)} then {_prefix_bounds(cell, kind)} "
        f"else {_range_bounds(cell, kind)} end"
    )


def suppressed(cell: str, kind: Kind) -> str:
    stars = "*-:. T" if kind.is_calendar else "*"  # a date can be starred in parts: ****-**-**
    starred = f"translate({cell}, '{stars}', '') = '' and ({cell} = '' or contains({cell}, '*'))"
    missing = ", ".join(f"'{word}'" for word in _MISSING)
    words = "" if kind.has_free_words else f" or lower({cell}) in ({missing})"
    return f"({cell} is null or {starred}{words})"


def is_set(cell: str) -> str:
    return f"(length({cell}) > 1 and startswith({cell}, '{{') and endswith({cell}, '}}'))"


def has_prefix(cell: str, kind: Kind) -> str:
    return f"endswith({cell}, '*')" if kind.is_number or kind.is_calendar else "false"


def set_texts(cell: str) -> str:
    """The members of a set as texts, without the spaces around them."""
    return member_texts(f"substr({cell}, 2, length({cell}) - 2)")


def member_texts(inside: str) -> str:
    """The members of a set, from the text between its braces."""
    return f"transform(split({inside}, ','), {ONE} -> {trim(ONE)})"


def set_members(cell: str) -> str:
    """The members of a set as texts without quotes."""
    return f"transform({set_texts(cell)}, {ONE} -> trim(BOTH {text(QUOTES)} FROM {ONE}))"


def set_values(cell: str, kind: Kind) -> str:
    """First and last number of each member as an array of structs; nulls where unreadable."""
    whole = text(f"^(?:{kind.pattern})$")
    ends = f"struct({kind.first(VALUE)} as low, {kind.last(VALUE)} as high)"
    checked = f"if({ONE} rlike {whole}, {ONE}, null)"
    return f"transform({set_members(cell)}, {ONE} -> {let(VALUE, checked, ends)})"


def struct(low: str, high: str, low_open: str = "false", high_open: str = "false") -> str:
    fields = f"'low', {low}, 'high', {high}, 'low_open', {low_open}, 'high_open', {high_open}"
    return f"named_struct({fields})"


def _finite(number: str) -> str:
    """Whether a number was read: not null, and not an infinity, which 1e999 becomes."""
    return f"coalesce(abs({number}) < double('Infinity'), false)"


def _set_bounds(cell: str, kind: Kind) -> str:
    readable = f"forall({PARTS}, {ONE} -> {_finite(f'{ONE}.low')} and {_finite(f'{ONE}.high')})"
    found = struct(f"array_min({PARTS}.low)", f"array_max({PARTS}.high)")
    return let(PARTS, set_values(cell, kind), f"if({readable}, {found}, null)")


def _prefix_bounds(cell: str, kind: Kind) -> str:
    if kind.is_calendar:
        return _date_prefix_bounds(cell, kind)
    ends = [kind.first(f"translate({cell}, '*', '{digit}')") for digit in "09"]
    found = struct(f"array_min({PARTS})", f"array_max({PARTS})")  # -12* is lowest with nines
    finite = f"forall({PARTS}, {ONE} -> {_finite(ONE)})"
    readable = f"{cell} rlike {text(_NUMBER_PREFIX)} and {finite}"
    return let(PARTS, f"array({', '.join(ends)})", f"if({readable}, {found}, null)")


def _date_prefix_bounds(cell: str, kind: Kind) -> str:
    """The struct of a date with stars from the right: 2020-**-**, 2020-03-1*, 2020-0*, 202*."""
    p = VALUE
    whole, zero = f"length({p}) in (4, 7, 10)", f"right({p}, 1) = '0'"
    start = (
        f"case when {whole} then {p} when length({p}) < 4 then rpad({p}, 4, '0') "
        f"when {zero} then concat({p}, '1') else concat({p}, '0') end"
    )
    end = (
        f"case when {whole} then {p} when length({p}) < 4 then rpad({p}, 4, '9') "
        f"when length({p}) = 6 and not {zero} then concat({p}, '2') else concat({p}, '9') end"
    )
    low = let(ONE, start, kind.first(ONE))
    # 2020-02-2* and 2020-04-3* end with the last day of their month.
    high = f"coalesce({let(ONE, end, kind.last(ONE))}, {kind.last(f'left({p}, 7)')})"
    in_order = f"if({BOUNDS}.low <= {BOUNDS}.high, {BOUNDS}, null)"
    found = let(BOUNDS, struct(low, high), in_order)
    readable = f"{p} rlike {text(_DATE_PREFIX)}"
    return let(p, f"trim(TRAILING '*-: T' FROM {cell})", f"if({readable}, {found}, null)")


def _range_bounds(cell: str, kind: Kind) -> str:
    """Plain values, ranges and half-open ranges, all by one regular expression."""
    forms = "|".join(_RANGES).replace("INF", _INFINITY).replace("ONE", kind.pattern)
    pieces = f"regexp_replace({cell}, {text(f'^(?:{forms})$')}, {text(_MARK.join(_RANGE_PIECES))})"
    opening, start, end, closing = (f"get({PARTS}, {i})" for i in range(4))
    low_open = f"{opening} <=> '(' or {opening} <=> ']' or {opening} <=> '>'"
    high_open = f"{closing} <=> ')' or {closing} <=> '[' or {closing} <=> '<'"
    # "> 2020" begins after the last day of 2020, ">= 2020" on its first.
    low = f"if({low_open}, {kind.last(start)}, {kind.first(start)})"
    high = f"if({high_open}, {kind.first(end)}, {kind.last(end)})"
    b = BOUNDS
    one_value = f"{b}.low = {b}.high and not {b}.low_open and not {b}.high_open"
    readable = (
        f"({start} is null or {_finite(f'{b}.low')}) "
        f"and ({end} is null or {_finite(f'{b}.high')}) "
        f"and coalesce({b}.low < {b}.high or {one_value}, true)"
    )
    made = let(b, struct(low, high, low_open, high_open), f"if({readable}, {b}, null)")
    parts = f"transform(split({pieces}, {text(_MARK)}), {ONE} -> if({ONE} = '', null, {ONE}))"
    return let(PARTS, parts, f"if(array_size({PARTS}) = 4, {made}, null)")
