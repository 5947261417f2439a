"""Turn the cells of a pair into boxes for the kernels, on the executors.

Coordinates are the columns' own numbers. A column whose originals hold nulls has a second
coordinate that is different for a null. Categories are numbered block by block, in the order of
their texts, so that a prefix covers consecutive numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkanon.engine.cells.shapes import QUOTES, tidied
from sparkanon.engine.pairs.pairs import Compared
from sparkanon.numeric.records import Bools, Floats, Scale
from sparkanon.numeric.search.boxes import Boxes, Longs, Ruler, Yard, make_boxes, make_yard

EXACT = 2.0**53  # integers beyond are not all doubles
_NOBODY = -1.0  # the place of a word that no original of the block has
_NO_LIMITS = (-np.inf, np.inf)


@dataclass(frozen=True)
class Cells:
    """Released cells of one column: what each covers, as parts of the line of its numbers."""

    low: Floats  # (n,) low end of the hull around all that the cell covers
    high: Floats
    null: Bools  # (n,) the cell is null
    starred: Bools  # (n,) the cell is written with stars
    start: Longs  # (n,) where its parts begin, if it has several
    count: Longs  # (n,) how many parts; 0: the hull is the only one
    parts: tuple[Floats, Floats]


Below = Mapping[str, Mapping[str, frozenset[str]]]  # by column: all values below a word
Ends = Mapping[str, tuple[float, float]]  # by column: the low and the high limit, or an infinity


@dataclass(frozen=True)
class Way:
    """One way in which an attacker may read suppressed and generalized cells, by column."""

    as_null: frozenset[str] = frozenset()  # where a released null covers nulls only
    by_length: frozenset[str] = frozenset()  # where each star stands for one character
    ends: Ends = field(default_factory=dict)  # limits that stand for all values beyond them
    also: Below = field(default_factory=dict)  # values that a word covers unless it is in a set


@dataclass(frozen=True)
class Reading:
    """How to read both sides."""

    compared: tuple[Compared, ...]
    rulers: tuple[Ruler, ...]
    marked: frozenset[str]  # columns whose originals hold nulls
    way: Way
    words: Below

    @property
    def yard(self) -> Yard:
        factor, cap = [], []
        for c, ruler in zip(self.compared, self.rulers, strict=True):
            factor += [ruler.factor] + [ruler.null_step] * (c.name in self.marked)
            cap += [ruler.cap] * (1 + (c.name in self.marked))
        return make_yard(np.array(factor), np.array(cap), bool(np.isfinite(cap).all()))

    def categories(self, table: pa.Table, letter: str) -> list[list[str]]:
        """For every column the sorted texts of the originals; an empty list if it is ordered."""
        found: list[list[str]] = []
        for i, c in enumerate(self.compared):
            texts: list[str] = []
            if c.scale is Scale.NOMINAL:
                known = pc.unique(table.column(f"{letter}{i}")).drop_null().to_pylist()
                texts = sorted({_tidy(c, one) for one in known})
            found.append(texts)
        return found

    def originals(self, table: pa.Table, letter: str, categories: Sequence[list[str]]) -> Boxes:
        low: list[Floats] = []
        high: list[Floats] = []
        for i, (c, ruler) in enumerate(zip(self.compared, self.rulers, strict=True)):
            cells = table.column(f"{letter}{i}").combine_chunks()
            values, null = _original(c, cells, categories[i]), _numpy(cells.is_null())
            for side, end in ((low, -np.inf), (high, np.inf)):
                side.append(np.where(null, _else(ruler.null_at, end), values))
                if c.name in self.marked:
                    side.append(null.astype(np.float64))
        return make_boxes(np.stack(low), np.stack(high))

    def released(
        self, table: pa.Table, letter: str, categories: Sequence[list[str]] | None
    ) -> Boxes:
        """Without `categories` a nominal column covers everything."""
        low: list[Floats] = []
        high: list[Floats] = []
        start, count, parts, listed = [], [], [(np.empty(0), np.empty(0))], 0
        for i, (c, ruler) in enumerate(zip(self.compared, self.rulers, strict=True)):
            cells = self._cells(table, letter, i, None if categories is None else categories[i])
            null = cells.null & (c.name in self.way.as_null)
            all_ = (cells.null & ~null) | cells.starred
            for side, own, end in ((low, cells.low, -np.inf), (high, cells.high, np.inf)):
                side.append(np.select([all_, null], [end, _else(ruler.null_at, end)], own))
                if c.name in self.marked:
                    side.append(np.where(all_, end, null))
            start.append(cells.start + listed)
            count.append(np.where(all_ | null, 0, cells.count))
            if c.name in self.marked:
                start.append(np.zeros_like(cells.start))
                count.append(np.zeros_like(cells.count))
            parts.append(cells.parts)
            listed += len(cells.parts[0])
        return make_boxes(
            np.stack(low),
            np.stack(high),
            np.stack(start),
            np.stack(count),
            [np.concatenate(ends) for ends in zip(*parts, strict=True)],
        )

    def _cells(self, table: pa.Table, letter: str, i: int, categories: list[str] | None) -> Cells:
        c, cells = self.compared[i], table.column(f"{letter}{i}").combine_chunks()
        if c.scale is not Scale.NOMINAL:
            spans = table.column(f"w{i}").combine_chunks() if c.covers else None
            return _ordered(c, cells, spans, self.way.ends.get(c.name, _NO_LIMITS))
        if categories is None:
            anything = _ordered(c, pa.nulls(len(cells), pa.float64()), None)
            return replace(anything, starred=anything.null)
        below, also = self.words.get(c.name, {}), self.way.also.get(c.name, {})
        words = _Words(categories, below, also, c.name in self.way.by_length)
        return _nominal(c, cells, words)


def _else(value: float | None, other: float) -> float:
    return other if value is None else value


def _numpy(array: pa.Array) -> Bools:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _original(c: Compared, cells: pa.Array, categories: list[str]) -> Floats:
    if c.scale is not Scale.NOMINAL:
        return np.asarray(cells.fill_null(0.0).to_numpy(zero_copy_only=False), np.float64)
    coded = cells.dictionary_encode()
    place = {text: i for i, text in enumerate(categories)}
    codes = [float(place[_tidy(c, text)]) for text in coded.dictionary.to_pylist()]
    at = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return np.asarray(np.array(codes or [0.0])[at])


def _tidy(c: Compared, text: str) -> str:
    return text if c.covers is None else tidied(text)


def _ordered(
    c: Compared,
    cells: pa.Array,
    spans: pa.Array | None,
    ends: tuple[float, float] = _NO_LIMITS,
) -> Cells:
    n = len(cells)
    values = np.array(cells.fill_null(0.0).to_numpy(zero_copy_only=False), np.float64)
    null, starred = _numpy(cells.is_null()).astype(np.bool_), np.zeros(n, np.bool_)
    start, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
    low, high = values, values.copy()
    if spans is not None:
        low, high = _outwards(low, high, c.origin)
    low, high = (
        np.where(values <= ends[0], -np.inf, low),
        np.where(values >= ends[1], np.inf, high),
    )
    if spans is None:
        return Cells(low, high, null, starred, start, count, (np.empty(0), np.empty(0)))
    of, each = _numpy(pc.list_parent_indices(spans)), pc.list_flatten(spans)
    first, last = _ends(each, c.origin)
    covering = np.unique(of)
    null[covering] = False
    start[covering] = np.searchsorted(of, covering)
    count[covering] = np.bincount(of, minlength=n)[covering]
    if len(covering):
        low[covering] = np.minimum.reduceat(first, start[covering])
        high[covering] = np.maximum.reduceat(last, start[covering])
    starred[of] = _numpy(each.is_null())
    return Cells(low, high, null, starred, start, np.where(count > 1, count, 0), (first, last))


def _ends(spans: pa.Array, origin: int) -> tuple[Floats, Floats]:
    """The ends of spans as closed ones: an open end is moved to the next double inside."""
    found = []
    for name, far, inside in (("low", -np.inf, np.inf), ("high", np.inf, -np.inf)):
        end = pc.struct_field(spans, name).fill_null(far).to_numpy(zero_copy_only=False)
        found.append((end - float(origin), inside))
    low, high = _outwards(found[0][0], found[1][0], origin)
    ends = []
    for name, end, (_, inside) in zip(("low", "high"), (low, high), found, strict=True):
        is_open = _numpy(pc.struct_field(spans, f"{name}_open").fill_null(False))
        ends.append(np.where(is_open, np.nextafter(end, inside), end))
    return ends[0], ends[1]


def _outwards(low: Floats, high: Floats, origin: int) -> tuple[Floats, Floats]:
    """Widen ends that a double cannot hold by a rounding error, so that they stay covered."""
    if not origin:
        return low, high
    slack = []
    for end in (low, high):
        written = np.abs(end + float(origin))
        beyond = np.isfinite(written) & (written > EXACT)
        slack.append(np.where(beyond, np.spacing(np.where(beyond, written, 0.0)), 0.0))
    return low - slack[0], high + slack[1]


def _nominal(c: Compared, cells: pa.Array, words: _Words) -> Cells:
    coded = cells.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    # Our own releases of categories hold nothing but categories, whatever these look like.
    parts = [words.covered(text) if c.covers else words.alone(text) for text in texts]
    hull = np.array([(p[0][0], p[-1][1]) if p else (_NOBODY, _NOBODY) for p in parts] or [(0, 0)])
    sizes = np.array([len(p) for p in parts] or [0], np.int64)
    flat = np.array([ends for p in parts for ends in p], np.float64).reshape(-1, 2)
    at = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    null = _numpy(cells.is_null()).astype(np.bool_)
    stars = np.array([bool(c.covers) and words.hides(text) for text in texts] or [False])
    return Cells(
        hull[at, 0].astype(np.float64),
        hull[at, 1].astype(np.float64),
        null,
        stars[at] & ~null,
        (np.cumsum(sizes) - sizes)[at],
        np.where(sizes > 1, sizes, 0)[at],
        (flat[:, 0], flat[:, 1]),
    )


class _Words:
    """What a released text covers among the categories of a block, as runs of their numbers.

    The word itself, what begins with a prefix, the members of a set, and what lies below a word
    of a taxonomy, alone or in a set.
    """

    def __init__(
        self,
        categories: list[str],
        below: Mapping[str, frozenset[str]],
        also: Mapping[str, frozenset[str]],
        by_length: bool,
    ) -> None:
        self._categories = categories
        self._place = {text: i for i, text in enumerate(categories)}
        self._below = below
        self._also = also
        self._by_length = by_length
        # A category with commas in it is split in a set, into parts that follow one another.
        self._parted: dict[str, list[int]] = {}
        for i, text in enumerate(categories):
            self._parted.setdefault(_spaced(text), []).append(i)
        self._longest = max((text.count(",") + 1 for text in categories), default=1)

    def alone(self, text: str) -> list[tuple[int, int]]:
        return _runs({self._place[text]} if text in self._place else set())

    def covered(self, text: str) -> list[tuple[int, int]]:
        found = {*self._named(text), *self._known(self._also.get(text, ()))}
        if text in self._place:
            found.add(self._place[text])
        if text.endswith("*"):
            stem = text.rstrip("*")
            first = bisect_left(self._categories, stem)
            last = bisect_right(self._categories, stem, key=lambda one: one[: len(stem)])
            found.update(i for i in range(first, last) if self._fits(text, i))
        if len(text) > 1 and text[0] == "{" and text[-1] == "}":
            found.update(self._members(text[1:-1]))
        return _runs(found)

    def hides(self, text: str) -> bool:
        """Whether the text stands for everything. One star does, however long the values are."""
        return text == "*" or (bool(text) and not text.strip("*") and not self._by_length)

    def _fits(self, text: str, i: int) -> bool:
        return not self._by_length or len(self._categories[i]) == len(text)

    def _named(self, word: str) -> list[int]:
        return self._known(self._below.get(word, ()))

    def _known(self, values: Iterable[str]) -> list[int]:
        return [self._place[value] for value in values if value in self._place]

    def _members(self, inside: str) -> set[int]:
        parts = _spaced(inside).split(",")
        found: set[int] = set()
        for length in range(1, min(self._longest, len(parts)) + 1):
            for first in range(len(parts) - length + 1):
                member = ",".join(parts[first : first + length])
                quoted = len(member) > 1 and member[0] == member[-1] and member[0] in QUOTES
                for one in (member, member[1:-1]) if quoted else (member,):
                    found.update(self._parted.get(one, ()), self._named(one))
        return found


def _spaced(text: str) -> str:
    """Without spaces around commas."""
    return ",".join(tidied(part) for part in text.split(","))


def _runs(codes: set[int]) -> list[tuple[int, int]]:
    """(first, last) of every run of consecutive codes."""
    runs: list[tuple[int, int]] = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs
