"""The contract of a release: what is published for a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sparkanon.errors import Problem
from sparkanon.numeric.records import Bools, Floats, Labels, Records, Scale
from sparkanon.promises import Promise


@dataclass(frozen=True)
class NewValues:
    """A column gets computed values; the engine turns them back into the column's own type."""

    values: Floats
    null: Bools


@dataclass(frozen=True)
class TakenFrom:
    """A column gets the cells of other records, exactly as they are: record i takes row[i]."""

    rows: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Generalized:
    """A column gets text about each group; the engine writes it, knowing the column's type."""

    labels: Labels
    low: Floats  # (groups,) least value
    high: Floats  # (groups,) largest value
    hidden: Bools  # (groups,) some null: nothing is told
    null: Bools  # (groups,) nulls only
    members: Sequence[npt.NDArray[np.int64]] | None = None  # codes of a nominal group
    ways: Mapping[str, tuple[str, ...]] | None = None  # values by the words above them


Published = NewValues | TakenFrom | Generalized


def mostly_null(null: Bools, labels: Labels, groups: int) -> Bools:
    """In which groups at least half of the records are null."""
    sizes = np.bincount(labels, minlength=groups)
    return np.asarray(2 * np.bincount(labels[null], minlength=groups) >= sizes)


@dataclass(frozen=True)
class Asked:
    """What a policy wants from a release: its quasi-identifiers, k, and what goes out besides."""

    quasi: Sequence[str]
    k: int
    others: bool  # whether columns that are not masked are published, too


@runtime_checkable
class Release(Protocol):
    """Values for each group.

    `promise` says what is guaranteed, and so how the staged table is verified. `texts`: the
    columns are published as text, whatever type they have. `allowed`: the only values a column
    may hold. `problems`: why the promise cannot be given for what is asked.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    scales: ClassVar[frozenset[Scale]]
    texts: ClassVar[bool]

    def problems(self, asked: Asked) -> list[Problem]: ...

    def promise(self, quasi: Sequence[str], k: int) -> Promise: ...

    def allowed(self, name: str) -> tuple[str, ...] | None: ...

    def publish(
        self,
        records: Records,
        labels: Labels,
        rng: np.random.Generator,
        weights: Floats | None = None,
    ) -> tuple[Published, ...]:
        """One entry for each column of `records`, in their order.

        `weights` say how much each record counts, for releases that can tell; finite, not
        negative. None: all the same.
        """
        ...
