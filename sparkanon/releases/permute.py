"""Probabilistic k-anonymity: the values of a group change places among its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sparkanon.errors import Problem
from sparkanon.numeric.records import Labels, Records
from sparkanon.promises import DrawnFrom, Promise
from sparkanon.registry import spec
from sparkanon.releases.base import Asked, ByGroup, Cells, Grouped, Published, TakenFrom

Rows = npt.NDArray[np.int64]


@spec
class Permute(ByGroup):
    """Each block of columns is permuted as a unit inside each group, blocks independently.

    Every permutation is as likely as any other, so that a record is hidden among the m of its
    group with a chance of 1/m (PKA definition 2). Algorithm 2 of the paper draws a group again
    while nothing moved. The best guess is then right more often than 1/m, with a chance of
    (m-1)!/(m!-1): 1 for two records, 0.40 for three. `redraw: true` does this, and the manifest
    states the chance.

    Columns that no block names make one block together. Without `blocks` they are cut into
    pairs in the order of the policy, an odd last one into three, and there are at least two
    blocks if there are two columns: what stays together is published as it is.
    """

    key: ClassVar[str] = "permute"
    title: ClassVar[str] = "the group's own values, permuted block by block"
    source: ClassVar[str] = "PKA section 4, algorithm 2"
    done: ClassVar[str] = (
        "exchanged the values within each group, block by block: they are real, but a row no "
        "longer shows whose they are"
    )
    cells: ClassVar[Cells] = Cells.OWN

    blocks: list[list[str]] = Field(
        default_factory=list,
        description="Columns that move together; the rest is one block. Pairs if not said.",
    )
    redraw: bool = Field(
        False, description="Draw groups again in which nothing moved; a guess then beats 1/k."
    )

    def problems(self, asked: Asked) -> list[Problem]:
        quasi = asked.quasi
        named = Counter(name for block in self.blocks for name in block)
        problems = [
            Problem(f"blocks.{i}", f"'{name}' is no quasi-identifier")
            for i, block in enumerate(self.blocks)
            for name in block
            if name not in quasi
        ]
        problems += [
            Problem("blocks", f"'{name}' is named {times} times")
            for name, times in named.items()
            if times > 1
        ]
        problems += [
            Problem(f"blocks.{i}", "is empty") for i, block in enumerate(self.blocks) if not block
        ]
        if not problems and quasi and len(self._units(quasi)) == 1 and not asked.others:
            text = (
                "nothing would be torn apart: with one block and no other column the published "
                "rows are the original rows; make at least two blocks"
            )
            problems.append(Problem("blocks", text))
        return problems

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        blocks = self._units(quasi)
        return DrawnFrom(columns=quasi, k=k, blocks=blocks, redrawn=self.redraw)

    def _units(self, quasi: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The blocks, each moved as a unit."""
        if not self.blocks:
            return pairs(quasi)
        named = {name for block in self.blocks for name in block}
        rest = tuple(name for name in quasi if name not in named)
        return tuple(tuple(block) for block in self.blocks) + ((rest,) if rest else ())

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        names = [column.name for column in records]
        rows_of: dict[str, TakenFrom] = {}
        draw = moved_within if self.redraw else permutation_within
        for block in self._units(names):
            taken = TakenFrom(draw(groups.labels, groups.rng))
            rows_of |= dict.fromkeys(block, taken)
        return tuple(rows_of[name] for name in names)


def pairs(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Two by two, an odd last one into three; of two or three names none stays with all."""
    if len(names) <= 3:
        return tuple(part for part in (tuple(names[:-1]), tuple(names[-1:])) if part)
    starts = range(0, len(names) - 1, 2)
    ends = [*starts[1:], len(names)]
    return tuple(tuple(names[a:b]) for a, b in zip(starts, ends, strict=True))


def permutation_within(labels: Labels, rng: np.random.Generator) -> Rows:
    """For each record the record of its own group whose cells it takes, all alike likely."""
    home = np.argsort(labels, kind="stable")
    rows = np.empty(len(labels), dtype=np.int64)
    rows[home] = home[np.lexsort((rng.random(len(home)), labels[home]))]
    return rows


def moved_within(labels: Labels, rng: np.random.Generator) -> Rows:
    """The same, drawn again where nothing in a group moved; one record alone cannot."""
    rows = permutation_within(labels, rng)
    sizes = np.bincount(labels)
    while True:
        stays = np.bincount(labels, weights=rows == np.arange(len(rows))) == sizes
        again = np.flatnonzero((stays & (sizes > 1))[labels])
        if not len(again):
            return rows
        rows[again] = again[permutation_within(labels[again], rng)]
