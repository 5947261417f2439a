"""Generalization: every record of a group gets everything the group holds, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.errors import Problem, counted
from sparkanon.numeric.records import Column, Records, Scale
from sparkanon.promises import Classes, Promise
from sparkanon.registry import spec
from sparkanon.releases.base import Asked, ByGroup, Cells, Generalized, Grouped, Published, Words

HIDDEN = "*"
DEEPEST = 100  # words over words; a YAML anchor that stands inside itself has no end


@spec
class Generalize(ByGroup):
    """A range [low, high] of a number or date, a set {a,b} of categories, or a taxonomy's word.

    The ends of a range are values of the group. A group with nulls and values is published
    as `*`, one of nulls only as null. With a taxonomy a set becomes the lowest word above all its
    members, `*` where there is none.
    """

    key: ClassVar[str] = "generalize"
    title: ClassVar[str] = "the group's range, set of values or word of a taxonomy"
    source: ClassVar[str] = "PKA 5.3 (Mondrian baseline)"
    done: ClassVar[str] = (
        "replaced values by ranges or sets that hold the values of the whole group"
    )
    cells: ClassVar[Cells] = Cells.TEXT

    taxonomies: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="For nominal columns: words over words over lists of values.",
    )

    def problems(self, asked: Asked) -> list[Problem]:
        found = []
        for name, tree in self.taxonomies.items():
            path = f"taxonomies.{name}"
            if name not in asked.quasi:
                found.append(Problem(path, "is no quasi-identifier"))
            try:
                leaves = [way[-1] for way in _ways(tree)]
            except ValueError as error:
                found.append(Problem(path, str(error)))
                continue
            twice = len(leaves) - len(set(leaves))
            if twice:
                found.append(
                    Problem(path, f"{counted(twice, 'value stands', 'values stand')} in it twice")
                )
        return found

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        return Classes(columns=quasi, k=k)

    def allowed(self, name: str) -> tuple[str, ...] | None:
        tree = self.taxonomies.get(name)
        return None if tree is None else tuple(way[-1] for way in _ways(tree))

    def words(self) -> Words:
        found = {}
        for name, tree in self.taxonomies.items():
            below: dict[str, set[str]] = {}
            for *words, value in _ways(tree):
                for word in words:
                    below.setdefault(word, set()).add(value)
            found[name] = {word: frozenset(values) for word, values in below.items()}
        return found

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        return tuple(self._spans(column, groups) for column in records)

    def _spans(self, column: Column, grouped: Grouped) -> Generalized:
        labels, groups = grouped.labels, grouped.number
        sizes, nulls = np.bincount(labels), np.bincount(labels[column.null], minlength=groups)
        low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
        present = ~column.null
        np.minimum.at(low, labels[present], column.values[present])
        np.maximum.at(high, labels[present], column.values[present])
        hidden = nulls > 0
        low, high = np.where(hidden, 0.0, low), np.where(hidden, 0.0, high)
        members = None
        word = None
        if column.scale is Scale.NOMINAL:
            width = int(column.values.max(initial=0)) + 1
            pairs = np.unique(labels.astype(np.int64) * width + column.values.astype(np.int64))
            members = np.split(pairs % width, np.flatnonzero(np.diff(pairs // width)) + 1)
            tree = self.taxonomies.get(column.name)
            word = None if tree is None else {way[-1]: way for way in _ways(tree)}
        return Generalized(labels, low, high, hidden, nulls == sizes, members, word)


def lowest_word(ways: Sequence[tuple[str, ...]]) -> str:
    """The last word that all ways from the top share; `*` if there is none."""
    shared = HIDDEN
    for words in zip(*ways, strict=False):
        if any(a != b for a, b in pairwise(words)):
            break
        shared = words[0]
    return shared


def _ways(tree: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every value with the words above it, from the top."""
    if len(above) > DEEPEST:
        raise ValueError(f"more than {DEEPEST} words stand over one another, or it holds itself")
    if isinstance(tree, dict):
        if not tree:
            raise ValueError("a word has nothing under it")
        for word, below in tree.items():
            yield from _ways(below, (*above, str(word)))
    elif isinstance(tree, list):
        if not tree:
            raise ValueError("a word has nothing under it")
        for value in tree:
            if isinstance(value, dict | list | float) or value is None:
                raise ValueError("a list under a word holds plain values only")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield (*above, text)
    else:
        raise ValueError("must be words over words over lists of values")
