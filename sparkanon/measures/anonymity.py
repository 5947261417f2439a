"""Sizes of classes, counted without a word about a class smaller than k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from sparkanon.needs import Need

A = TypeVar("A")

UNKNOWN_K = 10  # without a k: the coarser of the two thresholds statistical offices use


def few(k: int | None) -> int:
    """Counts of fewer records than this are not shown: k, or a usual threshold without one."""
    return UNKNOWN_K if k is None else k


@dataclass(frozen=True)
class SizeBucket:
    """How many classes have a size of `low` to `high`, and how many records they hold."""

    low: int
    high: int
    classes: int
    records: int


@dataclass(frozen=True)
class ClassSizes:
    """The exact smallest class and a histogram whose cells under k are merged into one."""

    k: int
    smallest: int
    classes: int
    records: int
    buckets: tuple[SizeBucket, ...]

    @property
    def below_k(self) -> int:
        """Records in classes smaller than k."""
        return sum(bucket.records for bucket in self.buckets if bucket.high < self.k)

    def to_dict(self) -> dict[str, Any]:
        return {
            "classes": self.classes,
            "records": self.records,
            "smallest": self.smallest,
            "histogram": [asdict(bucket) for bucket in self.buckets],
        }


class OfClasses(Need[A]):
    """It is about classes of rows that look alike, or about the groups that rows were drawn from.

    Where a release draws from groups and nobody knows these, nobody can answer it.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Sizes(OfClasses[ClassSizes]):
    """Sizes of the classes of the release, or of the groups that it draws from."""


def singles(k: int) -> int:
    """Sizes from k up to here get a bucket of their own; above, buckets double."""
    return min(4 * k, k + 200)


def bucket_of(size: int, k: int) -> tuple[int, int]:
    """First and last size of the bucket; all sizes under k share one."""
    if size < k:
        return 1, k - 1
    low = singles(k)
    if size < low:
        return size, size
    while size >= 2 * low:
        low *= 2
    return low, 2 * low - 1


def class_sizes(k: int, counts: Iterable[tuple[int, int, int]]) -> ClassSizes:
    """From (smallest size, classes, records) of sets of classes that share a bucket."""
    rows = sorted(counts)
    buckets: dict[tuple[int, int], tuple[int, int]] = {}
    for size, classes, records in rows:
        at = bucket_of(size, k)
        seen_classes, seen_records = buckets.get(at, (0, 0))
        buckets[at] = (seen_classes + classes, seen_records + records)
    return ClassSizes(
        k=k,
        smallest=rows[0][0] if rows else 0,
        classes=sum(classes for _, classes, _ in rows),
        records=sum(records for *_, records in rows),
        buckets=tuple(SizeBucket(*at, *held) for at, held in sorted(buckets.items())),
    )
