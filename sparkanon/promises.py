"""What a release guarantees, as values: how the engine verifies it and how people read it.

Nothing asks a release which one it is. The engine looks at its promise: which columns it is
about, how large k is, how many rows there must be, and what the staged table needs besides the
published columns so that the promise can be counted on it. `engine.verify` has one function for
each class of this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from math import factorial
from typing import Any, ClassVar

Units = tuple[tuple[str, ...], ...]


class Rows(StrEnum):
    """How many rows are published."""

    SAME = "same"  # one for every record that takes part
    FEWER = "fewer"  # some records are left out
    NEW = "new"  # rows that stand for no record; any number of them

    def allow(self, records: int, published: int) -> bool:
        """Whether so many rows may stand for so many records."""
        if self is Rows.SAME:
            return published == records
        return 0 < published <= records if self is Rows.FEWER else published > 0


@dataclass(frozen=True, kw_only=True)
class Promise(ABC):
    """A guarantee about `columns`; None as `k` where no number of records is a part of it."""

    columns: tuple[str, ...]
    k: int | None
    rows: Rows = Rows.SAME

    kind: ClassVar[str]
    # What `min_class_size` counts: classes of equal rows, or the groups that rows came from.
    counted: ClassVar[str] = "class"
    # Equal rows show their class. Groups do not show, so that staged rows need their numbers.
    numbered: ClassVar[bool] = False
    # Without a guarantee only the gates of the policy stand before the publication.
    guaranteed: ClassVar[bool] = True

    @property
    def units(self) -> Units:
        """Columns whose cells move together, as they are, from one record to another."""
        return ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The promise in words, for manifest, terminal and report."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "k": self.k,
            "rows": self.rows.value,
            "counted": self.counted,
            "text": self.text,
        }


@dataclass(frozen=True, kw_only=True)
class Classes(Promise):
    """Every published combination of these columns occurs at least k times."""

    k: int
    kind: ClassVar[str] = "classes"

    @property
    def text(self) -> str:
        return f"Every published combination of quasi-identifiers occurs at least {self.k} times."


@dataclass(frozen=True, kw_only=True)
class DrawnFrom(Promise):
    """The cells of a unit of columns stay together and go to another record of their group.

    `redrawn`: groups in which nothing moved were drawn again, so that a guess beats 1/m.
    """

    k: int
    blocks: Units
    redrawn: bool = False
    kind: ClassVar[str] = "drawn_from"
    counted: ClassVar[str] = "group"
    numbered: ClassVar[bool] = True

    @property
    def units(self) -> Units:
        return self.blocks

    @property
    def chance(self) -> float:
        """The chance that the best guess whose cells a row shows is right, in a group of k."""
        if not self.redrawn:
            return 1.0 / self.k
        if self.k > 20:  # the difference is below 1e-17
            return 1.0 / self.k
        # (k-1)! of the permutations move a record to one given other place, of k! - 1 in all.
        return factorial(self.k - 1) / (factorial(self.k) - 1)

    @property
    def text(self) -> str:
        units = "; ".join(" + ".join(block) for block in self.blocks)
        return (
            f"Whose values a row shows is hidden among at least {self.k} records (a guess is "
            f"right with a chance of at most {self.chance:.4g}), but the values are real: what "
            f"stands together in one block is one person's own record. Blocks: {units}."
        )

    def to_dict(self) -> dict[str, Any]:
        blocks = [list(block) for block in self.blocks]
        return super().to_dict() | {"blocks": blocks, "chance": self.chance}


@dataclass(frozen=True, kw_only=True)
class MadeFrom(Promise):
    """Every published record was made from a group of at least k as a whole."""

    k: int
    kind: ClassVar[str] = "made_from"
    counted: ClassVar[str] = "group"
    numbered: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return (
            f"Every published record was made at random from a group of at least {self.k} "
            "records, whose mean and covariance it keeps. Published combinations may occur once."
        )


@dataclass(frozen=True, kw_only=True)
class Measured(Promise):
    """Nothing is guaranteed, for the reason `why`: a gate on a risk has to decide."""

    why: str
    k: None = field(default=None, init=False)
    kind: ClassVar[str] = "measured"
    guaranteed: ClassVar[bool] = False

    @property
    def text(self) -> str:
        return (
            f"Nothing is guaranteed: {self.why}. The risk was measured, and the gates of the "
            "policy alone decide whether the table is published."
        )
