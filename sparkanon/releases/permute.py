"""Probabilistic k-anonymity: the values of a group change places among its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sparkanon.errors import Problem
from sparkanon.numeric.records import Floats, Labels, Records, Scale
from sparkanon.registry import spec
from sparkanon.releases.base import Published, TakenFrom


@spec
class Permute:
    """Each block of columns is permuted as a unit inside each group, blocks independently.

    A group whose draw moved nothing is drawn again. Columns that no block names make one
    block together; without `blocks` that is all of them.
    """

    key: ClassVar[str] = "permute"
    title: ClassVar[str] = "the group's own values, permuted block by block"
    source: ClassVar[str] = "PKA section 4, algorithm 2"
    scales: ClassVar[frozenset[Scale]] = frozenset(Scale)
    texts: ClassVar[bool] = False

    blocks: list[list[str]] = Field(
        default_factory=list, description="Columns that move together; the rest is one block."
    )

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
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
        return problems

    def draws(self, quasi: Sequence[str]) -> tuple[tuple[str, ...], ...] | None:
        named = {name for block in self.blocks for name in block}
        rest = tuple(name for name in quasi if name not in named)
        return tuple(tuple(block) for block in self.blocks) + ((rest,) if rest else ())

    def allowed(self, name: str) -> tuple[str, ...] | None:
        return None

    def publish(
        self,
        records: Records,
        labels: Labels,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> tuple[Published, ...]:
        names = [column.name for column in records]
        rows_of: dict[str, TakenFrom] = {}
        for block in self.draws(names) or ():
            taken = TakenFrom(permutation_within(labels, rng))
            rows_of |= dict.fromkeys(block, taken)
        return tuple(rows_of[name] for name in names)


def permutation_within(labels: Labels, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """For each record the record of its own group whose cells it takes; no group stays put."""
    n = len(labels)
    home = np.argsort(labels, kind="stable")
    rows = np.empty(n, dtype=np.int64)
    again = np.ones(n, dtype=np.bool_)
    while again.any():
        members = home[again[home]]
        drawn = members[np.lexsort((rng.random(len(members)), labels[members]))]
        rows[members] = drawn
        moved = np.bincount(labels[members], weights=rows[members] != members, minlength=1) > 0
        alone = np.bincount(labels) == 1  # cannot move; the verification refuses such a group
        again[members] = ~moved[labels[members]] & ~alone[labels[members]]
    return rows
