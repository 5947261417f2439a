"""What must not be seen anywhere but in the release, and the search for it.

Every case has secrets of its own, so that one that is found names the case it comes from. A
number is found in every form that Python, Java and JSON give it, and so is what is made from it:
its double, its half, its neighbours.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_TOKEN = re.compile(r"\d[\d.]{6,}(?:[eE][+-]?\d+)?")
_SHORTEST = 9  # characters of a number that does not stand in a log by chance


class Failure(Exception):
    """A promise that was not kept."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Failure(what)


@dataclass
class Secrets:
    """The secrets of a case.

    `names` and `seed` are never published; `words` and `numbers` are cells of columns that may
    be, and so may stand in the rows of a release but nowhere else.
    """

    seed: str
    names: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    numbers: dict[str, set[str]] = field(default_factory=dict)  # what it is -> its forms

    def add_number(self, what: str, cell: Any) -> None:
        self.numbers.setdefault(what, set()).update(forms(cell))

    def in_text(self, text: str) -> str | None:
        """What of all secrets stands in a text, in words that give none away."""
        return self.never_in(text) or self.cells_in(text)

    def never_in(self, text: str) -> str | None:
        """What stands in a text that must not even be in the rows of a release."""
        if _stands(self.seed, text):
            return "the seed"
        return "an identifier" if any(_stands(name, text) for name in self.names) else None

    def cells_in(self, text: str, besides: Iterable[str] = ()) -> str | None:
        """What stands in a text of the cells that are not published; `besides`: those that are."""
        public = set(besides)
        if any(_stands(word, text) for word in self.words - public):
            return "a category"
        tokens = set(number_tokens(text))
        for what, written in self.numbers.items():
            if not written & public and written & tokens:
                return f"a number of column '{what}'"
        return None


def _stands(word: str, text: str) -> bool:
    """As it is, or as the hexadecimal digits in which SQL may hold it."""
    return word in text or word.encode().hex() in text.lower()


def number_tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        yield token.rstrip(".")


def forms(cell: Any) -> set[str]:
    """How a cell may be printed, without its sign, and what is made from it."""
    found: set[str] = set()
    if isinstance(cell, dt.datetime):
        moment = cell if cell.tzinfo else cell.replace(tzinfo=dt.UTC)
        cell = (moment - EPOCH) // dt.timedelta(microseconds=1)
        found |= {str(abs(cell) // 1000), str(abs(cell) // 10**6)}  # milliseconds, seconds
    elif isinstance(cell, dt.date):
        return (
            set()
        )  # the number of its days is too short to be looked for; its ISO form is a word
    if isinstance(cell, Decimal):
        found |= {str(abs(cell)), str(abs(cell)).replace(".", "")}
        cell = float(cell)
    for one in (cell, 2 * cell, cell / 2, cell + 1, cell - 1, 2 * cell + 1, 2 * cell - 1):
        found |= _written(abs(one))
        if isinstance(cell, int) and isinstance(one, float) and one.is_integer():
            found |= _written(abs(int(one)))
    if isinstance(cell, int):
        found |= _written(abs(cell) // 2) | _written(abs(float(cell)))
    return {form for form in found if len(form) >= _SHORTEST}


def _written(value: float) -> set[str]:
    if isinstance(value, int):
        return {str(value)}
    shortest = f"{value!r}"
    digits, _, power = f"{Decimal(shortest):E}".partition("E")
    java = f"{digits if '.' in digits else digits + '.0'}E{int(power)}"
    found = {shortest, f"{value:.10g}", f"{value:.6E}", java}
    return found | {form.removesuffix(".0") for form in found}


@dataclass
class Watched:
    """A file or folder that grows while cases run; only what is new is read."""

    place: Path
    read: dict[Path, int] = field(default_factory=dict)

    def news(self) -> str:
        paths = sorted(self.place.rglob("*")) if self.place.is_dir() else [self.place]
        found = []
        for path in paths:
            if path.suffix == ".crc" or not path.is_file():
                continue
            with path.open("rb") as file:
                file.seek(self.read.get(path, 0))
                new = file.read()
            self.read[path] = self.read.get(path, 0) + len(new)
            found.append(new.decode(errors="replace"))
        return "".join(found)
