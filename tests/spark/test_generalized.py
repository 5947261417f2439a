"""Cells that other tools wrote: read by hand, against a reference in Python, and when junk."""

from __future__ import annotations

import math
import random
import re
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from sparkanon.engine.cells import generalized as g
from sparkanon.engine.cells.kinds import TEXT, Kind, kind_of
from sparkanon.engine.cells.kinds import Reading as As
from sparkanon.engine.cells.released import released_number
from sparkanon.engine.linkage.covers import Reading, Way
from sparkanon.engine.pairs.pairs import Compared
from sparkanon.engine.sql.names import quoted
from sparkanon.engine.table.columns import Quasi
from sparkanon.errors import Problem
from sparkanon.numeric.records import Scale
from sparkanon.numeric.search.boxes import Ruler, paired
from sparkanon.policy import ColumnType

NUMBER, FLOAT, BOOLEAN = Kind(As.NUMBER), Kind(As.FLOAT), Kind(As.BOOLEAN)
DATE, STAMP = Kind(As.DATE), Kind(As.TIMESTAMP)
STAMP_NTZ = Kind(As.TIMESTAMP_NTZ)
RANK = Kind(As.RANK, ("low", "low-mid", "high", "NA"))
KINDS = (NUMBER, FLOAT, BOOLEAN, DATE, STAMP, STAMP_NTZ, RANK, TEXT)
INF = math.inf


def day(text: str) -> float:
    return float((date.fromisoformat(text) - date(1970, 1, 1)).days)


def micros(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1e6


class Read(NamedTuple):
    low: float | None
    high: float | None
    number: float | None
    suppressed: bool
    generalized: bool
    readable: bool


def read(spark: SparkSession, cells: list[Any], kind: Kind, of: str = "string") -> list[Read]:
    made = spark.createDataFrame([(cell,) for cell in cells], f"`a.cell` {of}").coalesce(1)
    cell = quoted("a.cell")
    several = f"coalesce(exists({g.spans(cell, kind)}, one -> one is not null), false)"
    several = "false" if kind is TEXT else several  # which words show, and no numbers
    rows = made.selectExpr(
        f"{g.bounds(cell, kind)}.low as low",
        f"{g.bounds(cell, kind)}.high as high",
        f"{g.number(cell, kind)} as number",
        f"{g.is_suppressed(cell, kind)} as suppressed",
        f"{several} as generalized",
        f"{g.is_readable(cell, kind)} as readable",
    ).collect()
    return [Read(*row) for row in rows]


def covered(
    spark: SparkSession, pairs: list[tuple[str | None, Any]], kind: Kind, of: str
) -> list[bool]:
    """As linkage reads a pair: an original has no distance from a cell that covers it."""
    # The original's name is that of a lambda variable people choose
    made = spark.createDataFrame(pairs, f"cell string, x {of}").coalesce(1)
    if kind is TEXT:
        scale, sides = Scale.NOMINAL, ["x as v0", f"{g.words('cell')} as z0"]
    else:
        scale, sides = Scale.NUMERIC, ["double(x) as v0", f"{g.number('cell', kind)} as z0"]
        sides.append(f"{g.spans('cell', kind)} as w0")
    table = made.selectExpr(*sides, f"{g.is_readable('cell', kind)} as readable").toArrow()
    compared, ruler = Compared("q", scale, "x", "z", "covers"), Ruler(1.0, 1.0, 1.0, None)
    reading = Reading((compared,), (ruler,), frozenset("q"), Way(), {})
    categories = reading.categories(table, "v")
    released = reading.released(table, "z", categories)
    apart = paired(released, reading.originals(table, "v", categories), reading.yard)
    # what cannot be read is refused before
    readable = table.column("readable").to_pylist()
    return [bool(d == 0) and known for d, known in zip(apart, readable, strict=True)]


GONE = Read(None, None, None, True, False, True)
UNREAD = Read(None, None, None, False, False, False)


def span(low: float | None, high: float | None, middle: float | None = None) -> Read:
    if low is not None and high is not None:
        middle = (low + high) / 2
    return Read(low, high, middle, False, True, True)


def plain(value: float) -> Read:
    return Read(value, value, value, False, False, True)


NUMBERS = {
    "30": plain(30),
    " 30 ": plain(30),
    "\u00a0-1.5e-3\u3000": plain(-0.0015),
    "\u22125": plain(-5),  # a true minus sign
    ".5": plain(0.5),
    "5.": plain(5),
    "[30]": plain(30),  # mosaicrown, a class of one value
    "[30-30]": plain(30),
    "{30}": plain(30),
    "[30-40)": span(30, 40),
    "[30, 40]": span(30, 40),
    "(30,40]": span(30, 40),
    "[30, 40[": span(30, 40),  # ARX
    "]30, 40]": span(30, 40),
    "30-40": span(30, 40),
    "30 \u2013 40": span(30, 40),
    "30..40": span(30, 40),
    "30 to 40": span(30, 40),
    "[-5--1]": span(-5, -1),
    "-5--1": span(-5, -1),
    "1e-5-2": span(1e-5, 2),
    "[1.5, 2e3)": span(1.5, 2000),
    "(1.5..2.5)": span(1.5, 2.5),
    "[-1e308, 1.5e308]": span(-1e308, 1.5e308),
    ">=65": span(65, None, 65),
    "> 65": span(65, None, 65),
    "\u226565": span(65, None, 65),
    "<18": span(None, 18, 18),
    "<= -18": span(None, -18, -18),
    "30+": span(30, None, 30),
    "(-Inf,30]": span(None, 30, 30),  # R
    "(65.0, inf]": span(65, None, 65),  # pandas
    "(-inf, inf)": span(None, None),
    "{30,31}": span(30, 31),
    "{ 40, '31' ,\"30\" }": span(30, 40),
    "12*": span(120, 129),
    "1**": span(100, 199),
    "-12*": span(-129, -120),
    "*": GONE,
    "**": GONE,
    " ": GONE,
    "": GONE,
    None: GONE,
    "NA": GONE,
    "NaN": GONE,
    "abc": UNREAD,
    "[40-30]": UNREAD,
    "(30,30]": UNREAD,
    "[30-40": UNREAD,
    "30-40]": UNREAD,
    "30,40": UNREAD,  # a range, or a decimal comma
    "1,000": UNREAD,
    "1-2-3": UNREAD,
    "inf": UNREAD,
    "[inf, 5]": UNREAD,
    "1e999": UNREAD,
    "[0, 1e999]": UNREAD,
    "9" * 400 + "*": UNREAD,
    "30d": UNREAD,  # Java's number, not ours
    "0x1F": UNREAD,
    "\u0663": UNREAD,
    "{}": UNREAD,
    "{": UNREAD,
    "{30,}": UNREAD,
    "{30,x}": UNREAD,
    "*5": UNREAD,
    "1*5": UNREAD,
    "-*": UNREAD,
    "1.2*": UNREAD,
    "30\x0130\x0140\x01": UNREAD,
    "(\x0130\x0140\x01)": UNREAD,
}
YEAR = span(day("2020-01-01"), day("2020-12-31"))
DATES = {
    "2020-03-05": plain(day("2020-03-05")),
    "2020-03-05 00:00:00": plain(day("2020-03-05")),
    "1969-12-31": plain(-1),
    "[2020-01-01 - 2020-12-31]": YEAR,
    "[2020-01-01, 2021-01-01)": span(day("2020-01-01"), day("2021-01-01")),
    "(2020-01-01 00:00:00, 2020-12-31 00:00:00]": YEAR,
    "2020-01-01-2020-12-31": YEAR,
    "2020-**-**": YEAR,
    "2020-*": YEAR,
    "2020******": YEAR,
    "2020": YEAR,
    "2020-02": span(day("2020-02-01"), day("2020-02-29")),
    "2020-03-**": span(day("2020-03-01"), day("2020-03-31")),
    "2020-03-1*": span(day("2020-03-10"), day("2020-03-19")),
    "2020-03-0*": span(day("2020-03-01"), day("2020-03-09")),
    "2020-03-3*": span(day("2020-03-30"), day("2020-03-31")),
    "2021-02-2*": span(day("2021-02-20"), day("2021-02-28")),
    "2020-0****": span(day("2020-01-01"), day("2020-09-30")),
    "2020-1****": span(day("2020-10-01"), day("2020-12-31")),
    "202*": span(day("2020-01-01"), day("2029-12-31")),
    "2018-2020": span(day("2018-01-01"), day("2020-12-31")),
    "(2018, 2020)": span(day("2018-12-31"), day("2020-01-01")),
    ">=2020": span(day("2020-01-01"), None, day("2020-01-01")),
    ">2020": span(day("2020-12-31"), None, day("2020-12-31")),
    "<2020-03-01": span(None, day("2020-03-01"), day("2020-03-01")),
    "{2020-01-05, 2020-03-01}": span(day("2020-01-05"), day("2020-03-01")),
    "****-**-**": GONE,
    "NaT": GONE,
    "": GONE,
    "2020-02-30": UNREAD,
    "2021-02-3*": UNREAD,
    "2020-13-**": UNREAD,
    "2020-2*": UNREAD,
    "12020": UNREAD,
    "05.03.2020": UNREAD,
    "2020-03-05 10:00:00": UNREAD,
    "-": UNREAD,
    "today": UNREAD,
}
STAMPS = {
    "2020-03-05 10:00:00.5": plain(micros("2020-03-05 10:00:00.5")),
    "2020-03-05T10:00": plain(micros("2020-03-05 10:00:00")),
    "2020-03-05": span(micros("2020-03-05"), micros("2020-03-05 23:59:59.999999")),
    "2020-03-05 **:**:**": span(micros("2020-03-05"), micros("2020-03-05 23:59:59.999999")),
    "2020-03-**": span(micros("2020-03-01"), micros("2020-03-31 23:59:59.999999")),
    "[2020-03-05 10:00, 2020-03-05 11:00)": span(
        micros("2020-03-05 10:00"), micros("2020-03-05 11:00")
    ),
    "****-**-** **:**:**": GONE,
    "2020-03-05 25:00:00": UNREAD,
    "2020-03-05 10:**": UNREAD,
}
BOOLEANS = {
    "True": plain(1),
    "no": plain(0),
    "0": plain(0),
    "0.4": plain(0.4),  # a mean
    "{false, true}": span(0, 1),
    "*": GONE,
    "maybe": UNREAD,
}
RANKS = {
    "low": plain(0),
    "low-mid": plain(1),
    "NA": plain(3),  # listed, so a value
    "[low-mid - high]": span(1, 2),
    "low-high": span(0, 2),
    "{high, low}": span(0, 2),
    ">=high": span(2, None, 2),
    "*": GONE,
    "LOW": UNREAD,
    "lo*": UNREAD,
}
TEXTS = {
    "a": Read(None, None, None, False, False, True),
    "{a,b}": Read(None, None, None, False, False, True),
    "123**": Read(None, None, None, False, False, True),
    "NA": Read(None, None, None, False, False, True),  # Namibia
    "**": GONE,
    "\u3000": GONE,
    None: GONE,
}
BY_KIND = [
    (NUMBER, NUMBERS),
    (FLOAT, {"0.1": plain(0.10000000149011612), "1e39": UNREAD, "[1-2)": span(1, 2)}),
    (DATE, DATES),
    (STAMP, STAMPS),
    (STAMP_NTZ, STAMPS),
    (BOOLEAN, BOOLEANS),
    (RANK, RANKS),
    (TEXT, TEXTS),
]


@pytest.mark.parametrize(("kind", "expected"), BY_KIND, ids=lambda v: getattr(v, "reading", ""))
def test_by_hand(spark: SparkSession, kind: Kind, expected: dict[str | None, Read]) -> None:
    found = read(spark, list(expected), kind)
    wrong = {c: f for (c, e), f in zip(expected.items(), found, strict=True) if f != e}
    assert not wrong


@pytest.mark.slow
def test_a_zone_counts_only_where_the_original_has_one(spark: SparkSession) -> None:
    cell = ["2020-03-05T10:00:00+02:00"]
    assert read(spark, cell, STAMP) == [plain(micros("2020-03-05 08:00:00"))]
    assert read(spark, cell, STAMP_NTZ) == [UNREAD]


NUMBER_COVERS = [
    ("30", 30.0, True),
    ("30", 31.0, False),
    ("[30-40)", 30.0, True),
    ("[30-40)", 40.0, False),
    ("(30,40]", 30.0, False),
    ("(30,40]", 40.0, True),
    ("[30, 40[", 40.0, False),
    ("]30, 40]", 30.0, False),
    ("30-40", 40.0, True),
    ("30-40", 40.5, False),
    (">=65", 65.0, True),
    (">65", 65.0, False),
    ("<18", 18.0, False),
    ("<=18", 18.0, True),
    ("30+", 1e9, True),
    ("(-Inf,30]", -1e9, True),
    ("(-Inf,30]", 31.0, False),
    ("(-inf, inf)", 3.0, True),
    ("(-inf, inf)", None, False),
    ("{30, 40}", 40.0, True),
    ("{30, 40}", 35.0, False),
    ("{30, x}", 30.0, False),
    ("12*", 120.0, True),
    ("12*", 129.5, True),
    ("12*", 130.0, False),
    ("12*", 12.0, False),
    ("-12*", -129.5, True),
    ("-12*", -119.0, False),
    ("0*", -0.5, False),
    ("-0*", 0.5, False),
    ("*", 1.0, True),
    ("*", None, True),
    (None, None, True),
    (None, 1.0, True),
    ("30-40", None, False),
    ("x", 1.0, False),
    ("x", None, False),
]
DATE_COVERS = [
    ("2020", day("2020-12-31"), True),
    ("2020", day("2021-01-01"), False),
    (">2020", day("2020-12-31"), False),
    (">2020", day("2021-01-01"), True),
    ("[2018, 2020)", day("2019-12-31"), True),
    ("[2018, 2020)", day("2020-01-01"), False),
    ("{2018, 2020-03}", day("2019-03-01"), False),
    ("{2018, 2020-03}", day("2020-03-31"), True),
    ("2020-03-**", day("2020-03-31"), True),
    ("2020-03-**", day("2020-04-01"), False),
    ("****-**-**", day("2020-04-01"), True),
]
TEXT_COVERS = [
    ("a", "a", True),
    ("a", "A", False),
    (" a", "a ", True),
    ("{a,b}", "b", True),
    ("{a, 'b'}", "b", True),
    ('{"a" , "b"}', "a", True),
    ("{ab,b}", "a", False),
    ("{New York, NY, Boston, MA}", "Boston,MA", True),
    ('{"New York, NY", x}', "New York, NY", True),
    ("{a}", "{a}", True),
    ("123**", "12345", True),
    ("123**", "12456", False),
    ("\u00e9\u4e2d*", "\u00e9\u4e2d\u6587", True),
    ("1.3*", "123", False),  # not a pattern
    ("a%", "ab", False),
    ("*", None, True),
    (None, "a", True),
    ("a", None, False),
    ("{a,b}", None, False),
    ("NA", "a", False),
]


@pytest.mark.parametrize(
    ("kind", "of", "table"),
    [
        (NUMBER, "double", NUMBER_COVERS),
        (DATE, "double", DATE_COVERS),
        (TEXT, "string", TEXT_COVERS),
        (RANK, "double", [("[low, high)", 1.0, True), ("[low, high)", 2.0, False)]),
        (FLOAT, "float", [("0.1", 0.1, True), ("[0.1-0.2)", 0.2, False)]),
    ],
)
def test_covers_by_hand(spark: SparkSession, kind: Kind, of: str, table: list[Any]) -> None:
    found = covered(spark, [(cell, value) for cell, value, _ in table], kind, of)
    assert [(*pair[:2], f) for pair, f in zip(table, found, strict=True)] == table


class Interval(NamedTuple):
    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def holds(self, x: float) -> bool:
        above = self.low < x if self.low_open else self.low <= x
        return above and (x < self.high if self.high_open else x <= self.high)


def reference(cell: str) -> list[Interval] | None:
    """A numeric cell as intervals, by cutting it up instead of one large pattern."""
    cell = cell.strip(" \t")
    if not cell.strip("*") or cell.lower() == "nan":
        return [Interval(-INF, INF)]
    if len(cell) > 1 and cell[0] == "{" and cell[-1] == "}":
        members = [value(m.strip(" \t").strip("\"'")) for m in cell[1:-1].split(",")]
        return None if None in members else [Interval(m, m) for m in members if m is not None]
    if cell[-1] == "*":
        digits = cell.rstrip("*")
        if not digits.lstrip("+-").isdigit() or len(digits) - len(digits.lstrip("+-")) > 1:
            return None
        ends = sorted((float(cell.replace("*", "0")), float(cell.replace("*", "9"))))
        inner = digits.startswith("-")
        return [Interval(ends[0] - inner, ends[1] + (not inner), inner, not inner)]
    for sign, make in (
        (">=", lambda x: Interval(x, INF)),
        (">", lambda x: Interval(x, INF, low_open=True)),
        ("<=", lambda x: Interval(-INF, x)),
        ("<", lambda x: Interval(-INF, x, high_open=True)),
    ):
        if cell.startswith(sign):
            end = value(cell[len(sign) :].strip())
            return None if end is None else [make(end)]
    if cell[-1] == "+":
        end = value(cell[:-1].strip())
        return None if end is None else [Interval(end, INF)]
    single = value(cell)
    if single is not None:
        return [Interval(single, single)]
    brackets = cell[0] in "[](" and cell[-1] in "[])" and len(cell) > 1
    opening, inside, closing = (cell[0], cell[1:-1], cell[-1]) if brackets else ("[", cell, "]")
    if brackets and opening + closing == "[]" and value(inside.strip()) is not None:
        return [Interval(float(inside), float(inside))]
    for at in range(1, len(inside)):
        for mark in (",", ";", "..", "-", "to") if brackets else ("..", "-", "to"):
            if inside[at:].startswith(mark):
                low = value(inside[:at].strip(), -INF if brackets else None)
                high = value(inside[at + len(mark) :].strip(), INF if brackets else None)
                if low is not None and high is not None:
                    found = Interval(low, high, opening != "[", closing != "]")
                    empty = low > high or (low == high and (found.low_open or found.high_open))
                    return None if empty else [found]
    return None


def value(text: str, infinity: float | None = None) -> float | None:
    if infinity is not None and text.lower() in (("-inf",) if infinity < 0 else ("inf", "+inf")):
        return infinity
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        return None
    return float(text) if math.isfinite(float(text)) else None


def random_cells(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    numbers = ["0", "3", "30", "-5", "+7", "1.5", ".5", "2e1", "-1E-1", "40", "12", "inf", "-inf"]
    marks = ["-", "..", ",", ", ", " to ", " - ", ";", "+", "*", "**", "", "", "x", ">=", "<", ">"]
    starts, stops = ["[", "(", "]", "{", "", "", "<=", " "], ["]", ")", "[", "}", "", "", "+", "*"]
    alphabet = "0123456789[](){}<>=+-*.,;'\"eE tox"
    made = [
        rng.choice(starts)
        + rng.choice(numbers)
        + "".join(
            rng.choice(marks) + rng.choice(numbers) for _ in range(rng.choice([0, 1, 1, 1, 2]))
        )
        + rng.choice(stops)
        for _ in range(n)
    ]
    return made + ["".join(rng.choices(alphabet, k=rng.randint(1, 5))) for _ in range(n)]


@pytest.mark.slow
def test_numbers_agree_with_a_reference(spark: SparkSession) -> None:
    cells = random_cells(7, 2500)
    probes = [-129.0, -5.0, -0.1, 0.0, 0.5, 1.5, 3.0, 30.0, 35.0, 40.0, 125.5]
    found = read(spark, cells, NUMBER)
    pairs = [(cell, x) for cell in cells for x in probes]
    inside = iter(covered(spark, pairs, NUMBER, "double"))
    seen = {"readable": 0, "unreadable": 0}
    for cell, got in zip(cells, found, strict=True):
        wanted = reference(cell)
        seen["unreadable" if wanted is None else "readable"] += 1
        assert got.readable == (wanted is not None), cell
        for x in probes:
            assert next(inside) == any(i.holds(x) for i in wanted or ()), (cell, x)
        if wanted is None:
            assert got == UNREAD, cell
        elif not cell.strip().endswith("*"):  # the ends of a prefix are checked by hand
            low, high = min(i.low for i in wanted), max(i.high for i in wanted)
            assert (got.low, got.high) == tuple(None if abs(e) == INF else e for e in (low, high))
    assert min(seen.values()) > 500  # both sides were put to the test


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.reading.name)
def test_junk_never_raises(spark: SparkSession, kind: Kind) -> None:
    rng = random.Random(11)
    alphabet = (
        "0129[](){}<>=+-*.,;:'\"\\`$%^|?/eEtoTZinfNA\t\n\x00\x01\u00a0\u2013\u221e\u0663\U0001f600"
    )
    long = 100_000
    cells = ["".join(rng.choices(alphabet, k=rng.randint(0, 14))) for _ in range(800)]
    cells += ["x" * long, "9" * long, "*" * long, "[" * long, "." * long, " " * long + "x"]
    cells += ["1" + " " * long + "2", "{" + "1," * long + "1}", "{" + " " * long + "a}"]
    cells += ["9" * long + "*", "[" + "1" * long + "-" + "2" * long, "2020-" + "*" * long]
    cells += [
        "'" * long,
        "{" + "'" * long + "}",
        "low" * long,
        "1e" + "9" * long,
        "\U0001f600" * long,
    ]
    start = time.monotonic()
    found = read(spark, cells, kind)
    originals = "string" if kind is TEXT else "double"
    probe = "a" if kind is TEXT else 1.0
    inside = covered(spark, [(cell, probe) for cell in cells], kind, originals)
    assert time.monotonic() - start < 120  # a pattern that backtracks would take hours
    for got, is_inside in zip(found, inside, strict=True):
        assert got.readable or (got == UNREAD and not is_inside)
        assert not got.suppressed or (got == GONE and is_inside)
        if got.low is not None and got.high is not None:
            assert got.low <= (got.number or 0.0) <= got.high or got.number == 0.0
            assert got.generalized == (got.low < got.high)


@pytest.mark.slow
def test_cells_that_are_not_text(spark: SparkSession) -> None:
    assert read(spark, [30, None], NUMBER, "bigint") == [plain(30), GONE]
    assert read(spark, [1e10, math.nan, math.inf], NUMBER, "double") == [plain(1e10), GONE, UNREAD]
    assert read(spark, [Decimal("1.50")], NUMBER, "decimal(5,2)") == [plain(1.5)]
    assert read(spark, [date(2020, 3, 5)], DATE, "date") == [plain(day("2020-03-05"))]


INT = Quasi("q", ColumnType.NUMERIC, T.IntegerType(), origin=7, shift="7")
DAY = Quasi("q", ColumnType.DATE, T.DateType(), origin=2**14, shift="16384")
MOMENT = Quasi("q", ColumnType.TIMESTAMP, T.TimestampType())
LOCAL = Quasi("q", ColumnType.TIMESTAMP, T.TimestampNTZType())
FLAG = Quasi("q", ColumnType.BOOLEAN, T.BooleanType())
GRADE = Quasi("q", ColumnType.ORDINAL, T.IntegerType(), order=("1", "3", "2"))
CODE = Quasi("q", ColumnType.NOMINAL, T.IntegerType())
WORD = Quasi("q", ColumnType.NOMINAL, T.StringType())
NOON = datetime(2020, 3, 5, 12)
READABLE = [
    (INT, "bigint", 30, 30.0),
    (INT, "double", 30.5, 30.5),
    (INT, "double", math.nan, None),
    (INT, "decimal(5,2)", Decimal("30.25"), 30.25),
    (INT, "string", "[30-40)", 35.0),
    (INT, "string", "*", None),
    (INT, "string", "junk", None),
    (FLAG, "boolean", True, 1.0),
    (FLAG, "double", 0.25, 0.25),
    (FLAG, "string", "false", 0.0),
    (DAY, "date", date(2020, 3, 5), day("2020-03-05")),
    (DAY, "timestamp", NOON, day("2020-03-05") + 0.5),
    (DAY, "timestamp_ntz", NOON, day("2020-03-05") + 0.5),
    (DAY, "string", "2020-03-**", day("2020-03-16")),
    (MOMENT, "timestamp", NOON, micros("2020-03-05 12:00")),
    (MOMENT, "timestamp_ntz", NOON, micros("2020-03-05 12:00")),
    (MOMENT, "date", date(2020, 3, 5), micros("2020-03-05")),
    (MOMENT, "string", "2020-03-05 12:00:00", micros("2020-03-05 12:00")),
    (LOCAL, "timestamp", NOON, micros("2020-03-05 12:00")),
    (LOCAL, "date", date(2020, 3, 5), micros("2020-03-05")),
    (GRADE, "int", 2, 2.0),
    (GRADE, "double", 3.0, 1.0),
    (GRADE, "double", 3.5, None),
    (GRADE, "string", "[1, 2]", 1.0),
    (CODE, "double", 3.0, "3"),
    (CODE, "double", 3.5, "3.5"),
    (CODE, "double", 1e300, "1.0E300"),
    (CODE, "double", math.nan, None),
    (CODE, "string", "{3,4}", "{3,4}"),
    (WORD, "string", "a", "a"),
    (WORD, "string", "**", None),
    (WORD, "double", 12345.0, "12345"),
    (WORD, "boolean", True, "true"),
]
REFUSED = [
    (INT, T.DateType(), "date", "int"),
    (INT, T.BooleanType(), "boolean", "int"),
    (INT, T.ArrayType(T.IntegerType()), "array<int>", "int"),
    (DAY, T.IntegerType(), "int", "date"),
    (MOMENT, T.DoubleType(), "double", "timestamp"),
    (FLAG, T.DateType(), "date", "boolean"),
    (GRADE, T.DateType(), "date", "int"),
    (CODE, T.BooleanType(), "boolean", "int"),
    (WORD, T.BinaryType(), "binary", "string"),
]


def test_released_columns_of_other_types(spark: SparkSession) -> None:
    schema = T.StructType(
        [
            T.StructField(f"q.{i}", T._parse_datatype_string(of))
            for i, (_, of, _, _) in enumerate(READABLE)
        ]
    )
    row = spark.createDataFrame([tuple(cell for _, _, cell, _ in READABLE)], schema)
    sql = [
        released_number(field.name, case[0], field.dataType)
        for field, case in zip(schema.fields, READABLE, strict=True)
    ]
    (found,) = row.selectExpr(*(str(s) for s in sql)).collect()
    wrong = [(c, f) for c, f in zip(READABLE, found, strict=True) if f != c[3]]
    assert not wrong


@pytest.mark.slow
def test_same_types_agree_with_the_original(spark: SparkSession) -> None:
    for quasi, cell in ((INT, 5), (DAY, date(2020, 3, 5)), (MOMENT, NOON), (LOCAL, NOON)):
        table = spark.createDataFrame([(cell,)], T.StructType([T.StructField("q", quasi.spark)]))
        sql = released_number("q", quasi, quasi.spark)
        (row,) = table.selectExpr(str(sql), quasi.number).collect()
        assert row[0] == row[1] + quasi.origin


@pytest.mark.parametrize(("original", "released", "other", "own"), REFUSED)
def test_what_cannot_be_compared(
    original: Quasi, released: T.DataType, other: str, own: str
) -> None:
    found = released_number("q", original, released)
    message = f"is {other} in the release, which cannot be compared with {own}"
    assert found == Problem("columns.q", message)


def test_kinds_follow_the_original() -> None:
    floats = Quasi("q", ColumnType.NUMERIC, T.FloatType())
    old = Quasi("q", ColumnType.ORDINAL, T.DateType())
    found = [kind_of(q).reading for q in (INT, floats, old, MOMENT, LOCAL, FLAG, GRADE, CODE)]
    assert found == [
        As.NUMBER,
        As.FLOAT,
        As.DATE,
        As.TIMESTAMP,
        As.TIMESTAMP_NTZ,
        As.BOOLEAN,
        As.RANK,
        As.TEXT,
    ]
