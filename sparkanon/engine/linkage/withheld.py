"""Which cells of a release are suppressed, and which cover several values.

An audit that treated a suppressed cell as a value of its own would link fewer records than an
attacker who lets it match any value. So linkage looks for such cells before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.cells import shapes
from sparkanon.engine.cells.kinds import TEXT
from sparkanon.engine.linkage.covers import Below, Ends, Way
from sparkanon.engine.pairs.pairs import Compared, Sides
from sparkanon.engine.session.session import many_classes
from sparkanon.engine.sql.names import text
from sparkanon.errors import counted
from sparkanon.numeric.records import Scale
from sparkanon.numeric.statistics import ColumnStatistics

Words = Below
STANDINGS = 100_000  # pairs of a word and a value that a driver can hold
FARTHEST = 1e150  # sd of a column: no double holds the square of more


@dataclass(frozen=True)
class Withheld:
    """What was found on both sides of a pair, by column."""

    original_nulls: frozenset[str] = frozenset()
    released_nulls: frozenset[str] = frozenset()
    covering: frozenset[str] = frozenset()  # stars, ranges, sets, prefixes, words of a taxonomy
    null_for_null: frozenset[str] = frozenset()  # every released null was a null in the original
    by_length: frozenset[str] = frozenset()  # every star stands for exactly one character
    standing: Words = field(default_factory=dict)  # word -> originals published as this word
    ends: Ends = field(default_factory=dict)  # limits that extreme values were replaced by
    unread: Mapping[str, int] = field(default_factory=dict)  # cells whose meaning is unknown
    crowded: frozenset[str] = frozenset()  # columns with too many pairs for `standing`
    far: frozenset[str] = frozenset()  # columns with a cell that is infinitely far, or nearly so

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways to read suppressed and generalized cells that can link most records.

        A released null may stand for any value. If every released null of a column was a null in
        the original, it is read as a null: this moves all other originals away and leaves the own
        one where it is, so it never links less. The same holds for stars that keep the length.
        Where only some of the released nulls were nulls in the original, both ways are tried if
        other cells of the release cover several values; otherwise the search by points has
        already read nulls as nulls.

        A word that is an original value, but not the own one, may be a category above it (Asia
        among countries). Then it stands for all originals that were published as it. Where
        all values beyond a limit were published as the limit, that stands for all of them.
        """
        sure = Way(self.null_for_null, self.by_length)
        found = []
        if self.covering or self.released_nulls - self.null_for_null:
            found.append(sure)
        if self.covering and (self.original_nulls & self.released_nulls) - self.null_for_null:
            found.append(replace(sure, as_null=self.original_nulls & self.released_nulls))
        if self.standing:
            found.append(replace(sure, also=self.standing))
        if self.ends:
            found.append(replace(sure, also=self.standing, ends=self.ends))
        return tuple(found)

    @property
    def reason(self) -> str | None:
        """Why linkage cannot be measured: which originals are near to a cell is unknown."""
        if self.far:
            return (
                "the release holds values that are infinite, or so far from the originals that no "
                f"double holds the distance: column {', '.join(sorted(self.far))}"
            )
        if self.unread:
            each = (
                f"column {name} has {counted(n, 'such cell', 'such cells')}"
                for name, n in self.unread.items()
            )
            why = (
                "words that are in no original and are no range, set, prefix or word of a "
                f"taxonomy, so that nobody knows what they cover: {'; '.join(each)}"
            )
        elif self.crowded:
            why = (
                "many words that are original values, but not those of their own records, so that "
                "they may be categories above them, too many to try it: column "
                + ", ".join(sorted(self.crowded))
            )
        else:
            return None
        remedy = "write sets, or name what each word covers in method.release.taxonomies"
        return f"the release holds {why}; {remedy}"


def look(
    sides: Sides, pair: DataFrame, words: Words, statistics: Sequence[ColumnStatistics]
) -> Withheld:
    """One pass over the pair, and one more over its nominal columns if others made the release.

    Nulls are counted on the pair, because the statistics leave out those that the policy fills.
    """
    compared = sides.compared
    cells = [f"{c.x} as x{i}" for i, c in enumerate(compared)]
    cells += [f"{c.z} as z{i}" for i, c in enumerate(compared)]
    cells += [f"{c.covers} as c{i}" for i, c in enumerate(compared) if c.covers]
    asked = [
        f"{sql} as {what}{i}"
        for i, c in enumerate(compared)
        for what, sql in _questions(c, i, words.get(c.name, {})).items()
    ]
    (row,) = pair.selectExpr(*cells).selectExpr(*asked).collect()
    found = row.asDict()
    if sides.unpublished is not None:
        nulls = [f"{_any_null(c.x)} as x{i}" for i, c in enumerate(compared)]
        (row,) = sides.unpublished.selectExpr(*nulls).collect()
        found |= {name: value or found[name] for name, value in row.asDict().items()}

    def columns(what: str) -> frozenset[str]:
        return frozenset(c.name for i, c in enumerate(compared) if found.get(f"{what}{i}"))

    unread = {c.name: found[f"u{i}"] for i, c in enumerate(compared) if found.get(f"u{i}")}
    unread |= _unknown_words(sides, pair, words)
    standing, crowded = _standing(sides, pair, words) if not unread else ({}, frozenset())
    return Withheld(
        columns("x"),
        columns("z"),
        columns("c"),
        columns("n"),
        columns("l"),
        standing,
        _ends(compared, found),
        unread,
        crowded,
        _far(compared, found, statistics),
    )


def _questions(c: Compared, i: int, words: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """SQL of the questions about a column, each under a letter.

    x: has the original nulls? z: has the release nulls? n: was every released null a null in the
    original? c: do cells cover several values? l: do stars always keep the length of the
    original? u: how many cells cannot be read? Of released single numbers, low and high are the
    least and the largest; down is the least of those below their original, up the largest of
    those above.
    """
    asked = {"x": _any_null(f"x{i}")}
    if c.scale is not Scale.NOMINAL:
        one = f"z{i}" if c.covers is None else f"if(c{i} is null, z{i}, null)"
        asked |= {
            "low": f"min({one})",
            "high": f"max({one})",
            "down": f"min({one}) filter (where z{i} < x{i})",
            "up": f"max({one}) filter (where z{i} > x{i})",
        }
    if c.covers is None:
        return asked | {"z": _any_null(f"z{i}"), "n": _for_nulls_only(i, f"z{i} is null")}
    if c.scale is Scale.NOMINAL:
        own = f"length({shapes.tidy(f'x{i}', TEXT)})"
        starred = f"c{i} <> '*' and endswith(c{i}, '*') and x{i} is not null"
        return asked | {
            "z": _any_null(f"c{i}"),
            "n": _for_nulls_only(i, f"c{i} is null"),
            "c": f"bool_or({_covers_many(f'c{i}', words)})",
            "l": f"bool_and(length(c{i}) = {own}) filter (where {starred})",
        }
    hidden = f"z{i} is null and c{i} is null"
    return asked | {
        "z": f"bool_or({hidden})",
        "n": _for_nulls_only(i, hidden),
        "c": f"bool_or(c{i} is not null)",
        "u": f"count_if(size(c{i}) = 0)",
    }


def _ends(compared: Sequence[Compared], found: Mapping[str, Any]) -> Ends:
    """Where all values that became less are now the largest, and all that became more the least.

    That is top and bottom coding, by whatever tool.
    """
    ends: dict[str, tuple[float, float]] = {}
    for i, c in enumerate(compared):
        if c.scale is Scale.NOMINAL:
            continue
        low, high, down, up = (found[f"{what}{i}"] for what in ("low", "high", "down", "up"))
        bottom, top = up is not None and up == low, down is not None and down == high
        if bottom or top:
            ends[c.name] = (low if bottom else -inf, high if top else inf)
    return ends


def _far(
    compared: Sequence[Compared], found: Mapping[str, Any], statistics: Sequence[ColumnStatistics]
) -> frozenset[str]:
    known = {s.name: s for s in statistics}
    ends = (
        (known[c.name], found[f"{end}{i}"])
        for i, c in enumerate(compared)
        if c.scale is not Scale.NOMINAL
        for end in ("low", "high")
    )
    return frozenset(
        s.name for s, end in ends if end is not None and abs(end - s.mean) > FARTHEST * s.sd > 0
    )


def _for_nulls_only(i: int, hidden: str) -> str:
    return f"bool_and(x{i} is null) filter (where {hidden})"


def _any_null(cell: str) -> str:
    return f"count({cell}) < count(1)"  # which Spark does in half the time of bool_or


def _covers_many(word: str, words: Mapping[str, frozenset[str]]) -> str:
    shaped = f"{shapes.is_set(word)} or endswith({word}, '*')"
    return f"({shaped} or {word} in ({_listed(words)}))" if words else f"({shaped})"


def _unknown_words(sides: Sides, pair: DataFrame, words: Words) -> dict[str, int]:
    """How many released cells of each column hold no word of an original or of the taxonomy.

    A set counts as known if one of its members is: the others may be values of no record.
    """
    nominal = _nominal(sides)
    if not nominal:
        return {}

    def listed(table: DataFrame, cells: list[str]) -> DataFrame:
        structs = [
            f"named_struct('at', {i}, 'word', {sql})"
            for (i, _), sql in zip(nominal, cells, strict=True)
        ]
        each = table.selectExpr(f"inline(array({', '.join(structs)}))")
        return each.filter("word is not null").groupBy("at", "word").agg(F.expr("count(1) as n"))

    # A category may hold commas, at which it would be split inside a set.
    parts = f"concat(array(word), {shapes.member_texts('word')})"
    original = listed(sides.original, [shapes.tidy(c.x, TEXT) for _, c in nominal])
    known = original.selectExpr("at", f"explode({parts}) as part").distinct()
    members = f"if({shapes.is_set('word')}, {shapes.set_members('word')}, array())"
    released = listed(pair, [str(c.covers) for _, c in nominal]).filter("not endswith(word, '*')")
    pieces = released.selectExpr(
        "at", "word", "n", f"explode(concat(array(word), {members})) as part"
    )
    pieces = pieces.join(known.withColumn("known", F.lit(True)), ["at", "part"], "left")
    named = [
        f"at = {i} and part in ({_listed(words[c.name])})" for i, c in nominal if c.name in words
    ]
    sure = " or ".join(["coalesce(known, false)", *named])
    cells = pieces.groupBy("at", "word", "n").agg(F.expr(f"bool_or({sure}) as sure"))
    unknown = cells.filter("not sure").groupBy("at").agg(F.expr("sum(n) as n"))
    with many_classes(pair.sparkSession):
        return {sides.compared[row["at"]].name: int(row["n"]) for row in unknown.collect()}


def _standing(
    sides: Sides, pair: DataFrame, words: Words
) -> tuple[dict[str, dict[str, frozenset[str]]], frozenset[str]]:
    """For each column, the words that were published for other originals, and these originals.

    Also the columns with too many such pairs. Words inside a set are left out: the set says what
    it covers.
    """
    nominal = _nominal(sides)
    if not nominal:
        return {}, frozenset()
    structs = [
        f"named_struct('at', {i}, 'word', {c.covers}, 'value', {shapes.tidy(c.x, TEXT)})"
        for i, c in nominal
    ]
    each = pair.selectExpr(f"inline(array({', '.join(structs)}))")
    covers = f"endswith(word, '*') or {shapes.is_set('word')}"
    other = each.filter(f"word <> value and not ({covers})").distinct()
    found: dict[str, dict[str, set[str]]] = {}
    with many_classes(pair.sparkSession):
        rows = other.limit(STANDINGS + 1).collect()
    if len(rows) > STANDINGS:
        return {}, frozenset(sides.compared[row["at"]].name for row in rows)
    for row in rows:
        name, word, value = sides.compared[row["at"]].name, row["word"], row["value"]
        if value not in words.get(name, {}).get(word, ()):
            found.setdefault(name, {}).setdefault(word, set()).add(value)
    standing = {
        name: {word: frozenset(values) for word, values in above.items()}
        for name, above in found.items()
    }
    return standing, frozenset()


def _nominal(sides: Sides) -> Sequence[tuple[int, Compared]]:
    """Columns whose released cells may be words above their values, by their place."""
    return [(i, c) for i, c in enumerate(sides.compared) if c.scale is Scale.NOMINAL and c.covers]


def _listed(words: Mapping[str, frozenset[str]]) -> str:
    return ", ".join(map(text, words))
