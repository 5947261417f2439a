"""The contract of a release: what is published for a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from sparkanon.errors import Problem
from sparkanon.needs import Known, Need
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
class Replaced:
    """The cells of a column stay exactly as they are, but for some that a value stands in for."""

    where: Bools
    values: Floats  # read where `where` says so


@dataclass(frozen=True)
class Generalized:
    """A column gets text about each group; the engine writes it, knowing the column's type."""

    labels: Labels
    low: Floats  # (groups,) least value
    high: Floats  # (groups,) largest value
    hidden: Bools  # (groups,) nulls and values: suppressed
    null: Bools  # (groups,) nulls only
    members: Sequence[npt.NDArray[np.int64]] | None = None  # codes of a nominal group
    ways: Mapping[str, tuple[str, ...]] | None = None  # values by the words above them


Published = NewValues | TakenFrom | Replaced | Generalized


def mostly_null(null: Bools, labels: Labels, groups: int) -> Bools:
    """In which groups at least half of the records are null."""
    sizes = np.bincount(labels, minlength=groups)
    return np.asarray(2 * np.bincount(labels[null], minlength=groups) >= sizes)


class Cells(StrEnum):
    """What stands in the published cells of a column, in words for a sentence."""

    MEANS = "means of groups"  # from them and the original's sd the loss can be computed
    COMPUTED = "invented values"
    OWN = "values as they were"
    TEXT = "middles of ranges"  # about a group, whatever type the column has

    @property
    def computed(self) -> bool:
        """Whether a number need not be one that its column's type can hold."""
        return self in (Cells.MEANS, Cells.COMPUTED)


@dataclass(frozen=True)
class Asked:
    """What a policy wants from a release: its quasi-identifiers, k, and what goes out besides."""

    quasi: Sequence[str]
    k: int | None
    others: bool  # whether columns that are not masked are published, too


@dataclass(frozen=True, eq=False)
class Grouped:
    """How the records of a block stand together, and what else their values may be made from.

    `labels` are the groups; where none are made every record is on its own. `weights` say how
    much each record counts, for releases that can use it; finite, not negative. None: all the
    same.
    """

    labels: Labels
    rng: np.random.Generator
    weights: Floats | None = None

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.labels.max()) + 1


class FittedRelease(Protocol):
    """A release that knows what it has to know about the table; small, shipped to executors."""

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        """One entry for each column of `records`, in their order."""
        ...


Words = Mapping[str, Mapping[str, frozenset[str]]]


class Release(Protocol):
    """What is published for a record, or for each group of records.

    `by_group`: it needs groups, and so the policy a grouping and k. `cells`: what it publishes.
    `done`: what it did, in a sentence about the records of a table. `promise` says what is
    guaranteed, and so how the staged table is verified.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    done: ClassVar[str]
    scales: ClassVar[frozenset[Scale]] = frozenset(Scale)
    cells: ClassVar[Cells]
    by_group: ClassVar[bool]

    def problems(self, asked: Asked) -> list[Problem]:
        """Why the promise cannot be given for what is asked."""
        return []

    def promise(self, quasi: Sequence[str], k: int | None) -> Promise: ...

    def allowed(self, name: str) -> tuple[str, ...] | None:
        """The only values a column may hold; None: any."""
        return None

    def words(self) -> Words:
        """For each column whose cells may be words: the values that each word stands for."""
        return {}

    def needs(self) -> tuple[Need[Any], ...]:
        """What it has to know about the whole table."""
        return ()

    def fit(self, known: Known) -> FittedRelease:
        """With the answers to `needs`."""
        ...


class ByGroup(Release, FittedRelease, Protocol):
    """A release whose values follow from each group alone: there is nothing to fit."""

    by_group: ClassVar[bool] = True

    def promise(self, quasi: Sequence[str], k: int | None) -> Promise:
        if k is None:
            raise ValueError(f"release '{self.key}' promises nothing without k")
        return self.promised(tuple(quasi), k)

    def promised(self, quasi: tuple[str, ...], k: int) -> Promise:
        """What groups of at least k records guarantee."""
        ...

    def fit(self, known: Known) -> Self:
        return self
