"""What a release guarantees, as values: how the engine verifies it and how people read it.

Nothing asks a release which one it is. The engine looks at its promise: whether the staged table
needs the numbers of the groups, which columns were drawn as units, and how large k is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any, ClassVar


@dataclass(frozen=True)
class Classes:
    """Every published combination of quasi-identifiers occurs at least k times."""

    k: int
    kind: ClassVar[str] = "classes"
    grouped: ClassVar[bool] = False  # equal rows tell the classes: groups need no numbers
    blocks: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @property
    def text(self) -> str:
        return f"Every published combination of quasi-identifiers occurs at least {self.k} times."

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "k": self.k, "text": self.text}


@dataclass(frozen=True)
class DrawnFrom:
    """The cells of a block of columns stay together and go to another record of their group.

    `redrawn`: groups in which nothing moved were drawn again, which tells more than 1/m.
    """

    blocks: tuple[tuple[str, ...], ...]
    k: int
    redrawn: bool = False
    kind: ClassVar[str] = "drawn_from"
    grouped: ClassVar[bool] = True

    @property
    def chance(self) -> float:
        """The best guess whose cells a released row shows: in a group of exactly k."""
        if not self.redrawn:
            return 1.0 / self.k
        if self.k > 20:  # the difference is below 1e-17
            return 1.0 / self.k
        # A place goes to each of the others alike; one of the k! permutations is ruled out.
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
        told = {"blocks": [list(block) for block in self.blocks], "chance": self.chance}
        return {"kind": self.kind, "k": self.k, "text": self.text} | told


@dataclass(frozen=True)
class MadeFrom:
    """Every published record was made from a group of at least k as a whole."""

    k: int
    kind: ClassVar[str] = "made_from"
    grouped: ClassVar[bool] = True
    blocks: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @property
    def text(self) -> str:
        return (
            f"Every published record was made at random from a group of at least {self.k} "
            "records, whose mean and covariance it keeps. Published combinations may occur once."
        )

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "k": self.k, "text": self.text}


Promise = Classes | DrawnFrom | MadeFrom
