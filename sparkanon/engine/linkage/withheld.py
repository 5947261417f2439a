"""What a release hides: cells without a value, and cells that cover many.

Whoever takes a suppressed cell for a value of its own links less than an attacker, who takes it
for any value. So linkage has to know before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.engine.cells import shapes
from sparkanon.engine.cells.kinds import TEXT
from sparkanon.engine.pairs.pairs import Compared, Sides
from sparkanon.engine.session.session import many_classes
from sparkanon.engine.sql.names import text
from sparkanon.numeric.records import Scale

Words = Mapping[str, Mapping[str, frozenset[str]]]  # by column: all values below a word


@dataclass(frozen=True)
class Withheld:
    """What was found on both sides of a pair, by column."""

    original_nulls: frozenset[str] = frozenset()
    released_nulls: frozenset[str] = frozenset()
    covering: frozenset[str] = frozenset()  # stars, ranges, sets, prefixes, words of a taxonomy
    unread: Mapping[str, int] = field(default_factory=dict)  # cells of which nobody knows that

    @property
    def readings(self) -> tuple[frozenset[str], ...]:
        """Ways to read cells that hide: the columns where a released null says: this is a null.

        In all others it hides a value. Where the original has nulls, both can be meant; without
        covering cells, that is how cells are read that are taken for values.
        """
        if not self.released_nulls and not self.covering:
            return ()
        both = self.original_nulls & self.released_nulls
        return (frozenset(), both) if both and self.covering else (frozenset(),)

    @property
    def reason(self) -> str | None:
        """Why nobody can say which originals the release covers."""
        if not self.unread:
            return None
        told = "; ".join(f"column {name} has {n} such cells" for name, n in self.unread.items())
        return (
            "the release holds words that are in no original and are no range, set, prefix or "
            f"word of a taxonomy, so that nobody knows what they cover: {told}; write sets, or "
            "name what each word covers in method.release.taxonomies"
        )


def look(sides: Sides, pair: DataFrame, words: Words) -> Withheld:
    """One pass over the pair, and one more over its nominal columns if others made the release.

    Counted on the pair: the statistics know of no nulls that the policy fills.
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
    return Withheld(columns("x"), columns("z"), columns("c"), unread)


def _questions(c: Compared, i: int, words: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Does the column hold nulls (x, z), does it cover (c), how many cells are unread (u)."""
    asked = {"x": _any_null(f"x{i}")}
    if c.covers is None:
        return asked | {"z": _any_null(f"z{i}")}
    if c.scale is Scale.NOMINAL:
        many = _covers_many(f"c{i}", words)
        return asked | {"z": _any_null(f"c{i}"), "c": f"bool_or({many})"}
    return asked | {
        "z": f"bool_or(z{i} is null and c{i} is null)",
        "c": f"bool_or(c{i} is not null)",
        "u": f"count_if(size(c{i}) = 0)",
    }


def _any_null(cell: str) -> str:
    return f"count({cell}) < count(1)"  # which Spark does in half the time of bool_or


def _covers_many(word: str, words: Mapping[str, frozenset[str]]) -> str:
    shaped = f"{shapes.is_set(word)} or endswith({word}, '*')"
    return f"({shaped} or {word} in ({_listed(words)}))" if words else f"({shaped})"


def _unknown_words(sides: Sides, pair: DataFrame, words: Words) -> dict[str, int]:
    """Released cells, by column, that hold no word of an original or of the taxonomy.

    A set is known by one of its members: others may be values that no record happens to have.
    """
    nominal = [
        (i, c) for i, c in enumerate(sides.compared) if c.scale is Scale.NOMINAL and c.covers
    ]
    if not nominal:
        return {}

    def listed(table: DataFrame, cells: list[str]) -> DataFrame:
        structs = [
            f"named_struct('at', {i}, 'word', {sql})"
            for (i, _), sql in zip(nominal, cells, strict=True)
        ]
        each = table.selectExpr(f"inline(array({', '.join(structs)}))")
        return each.filter("word is not null").groupBy("at", "word").agg(F.expr("count(1) as n"))

    # A category may hold commas, which would part it in a set.
    parts = f"concat(array(word), {shapes.member_texts('word')})"
    original = listed(sides.original, [shapes.tidy(c.x, TEXT) for _, c in nominal])
    known = original.selectExpr("at", f"explode({parts}) as part").distinct()
    members = f"if({shapes.is_set('word')}, {shapes.set_members('word')}, array())"
    released = listed(pair, [str(c.covers) for _, c in nominal]).filter("not endswith(word, '*')")
    told = released.selectExpr(
        "at", "word", "n", f"explode(concat(array(word), {members})) as part"
    )
    told = told.join(known.withColumn("known", F.lit(True)), ["at", "part"], "left")
    named = [
        f"at = {i} and part in ({_listed(words[c.name])})" for i, c in nominal if c.name in words
    ]
    sure = " or ".join(["coalesce(known, false)", *named])
    cells = told.groupBy("at", "word", "n").agg(F.expr(f"bool_or({sure}) as sure"))
    unknown = cells.filter("not sure").groupBy("at").agg(F.expr("sum(n) as n"))
    with many_classes(pair.sparkSession):
        return {sides.compared[row["at"]].name: int(row["n"]) for row in unknown.collect()}


def _listed(words: Mapping[str, frozenset[str]]) -> str:
    return ", ".join(map(text, words))
