"""All needs of an audit, answered together: a pass for each kind, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.attacks.needs import Linked, Links
from sparkanon.engine.audit.counting import Bin, BothSides, Cuts, OneSide
from sparkanon.engine.count.class_sizes import size_buckets
from sparkanon.engine.count.passes import tally
from sparkanon.engine.count.sensitive import diversity_of, sensitive
from sparkanon.engine.linkage.linkage import linkage
from sparkanon.engine.linkage.withheld import Words
from sparkanon.engine.pairs import sampling
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.pairs.tallies import sides_of
from sparkanon.engine.runs.steps import Steps
from sparkanon.measures import Given, ranks
from sparkanon.measures.anonymity import OfClasses, Sizes
from sparkanon.measures.diversity import Diversities, Diversity
from sparkanon.measures.entropy import Bins
from sparkanon.measures.loss import GroupMeans
from sparkanon.measures.needs import OfPairs, PairTally, SideTally
from sparkanon.measures.ranks import RankGrids
from sparkanon.measures.uniqueness import SubsetClasses, Subsets
from sparkanon.needs import Known, Need, Unanswerable
from sparkanon.numeric.records import Scale
from sparkanon.spaces import Space

_NO_PAIRING = (
    "nobody knows which released row was which record: give a key, or let anonymize keep the "
    "pairing (private: {path: ...})"
)
_NO_SENSITIVE = "no sensitive column is in the release"
_GROUPS = "this release has groups, not classes, and does not publish which is whose"
_NO_ORDER = "it needs a numeric or ordinal quasi-identifier"


@dataclass(frozen=True)
class Source:
    """What the answers are computed from."""

    sides: Sides
    given: Given
    space: Space  # the distance of linkage
    words: Words  # of taxonomies, with all values below each


Answers = Mapping[Need[Any], Any]


def unanswerable(need: Need[Any], sides: Sides) -> Unanswerable | None:
    """Why nobody can answer it for these tables, or None."""
    if isinstance(need, OfPairs) and sides.pair is None:
        return Unanswerable(_NO_PAIRING)
    if isinstance(need, OfClasses) and sides.no_classes is not None:
        return Unanswerable(sides.no_classes)
    if isinstance(need, GroupMeans) and sides.no_means is not None:
        return Unanswerable(sides.no_means)
    if isinstance(need, Diversities) and not sides.sensitive:
        return Unanswerable(_NO_SENSITIVE)
    if isinstance(need, Diversities) and sides.group is not None:
        return Unanswerable(_GROUPS)
    return None


def no_order(sides: Sides) -> str | None:
    """Why measures of ordered columns cannot be had, or None."""
    nominal = all(c.scale is Scale.NOMINAL for c in sides.compared)
    return _NO_ORDER if nominal else None


def answered(source: Source, wanted: Iterable[Need[Any]], known: Known, steps: Steps) -> Known:
    """What was known, and the answers to all needs that were not."""
    todo = list(dict.fromkeys(need for need in wanted if need not in known))
    refused = {need: reason for need in todo if (reason := unanswerable(need, source.sides))}
    known = known.with_answers(refused)
    for step, kinds, answer in _KINDS:
        needs = [need for need in todo if need not in known and isinstance(need, kinds)]
        if needs:
            with steps.step(step):
                known = known.with_answers(answer(source, needs, known))
    return known


def _sizes(source: Source, needs: Sequence[Need[Any]], known: Known) -> Answers:
    """Sizes of the classes: sets of records that share all released cells; a null is a value.

    For a release that draws from groups, sizes of the groups, which the pairing names.
    """
    sides = source.sides
    own = [sides.group] if sides.group is not None else sides.released_cells
    return {Sizes(): size_buckets(sides.released.groupBy(*own), source.given.few)}


def _subsets(source: Source, needs: Sequence[Need[Any]], known: Known) -> Answers:
    """One aggregation a subset; a table with many quasi-identifiers has many of them."""
    sides, names = source.sides, [c.name for c in source.sides.compared]
    largest = {need: need.largest for need in needs if isinstance(need, Subsets)}
    sizes = range(1, min(max(largest.values()), len(names)) + 1)
    of_release = _classes(sides.released, sides.released_cells)
    by_size = {
        size: {
            " + ".join(names[i] for i in chosen): _classes(
                sides.original, [f"x{i}" for i in chosen]
            )
            for chosen in combinations(range(len(names)), size)
        }
        for size in sizes
    }
    return {
        need: {None: of_release}
        | {name: one for size in sizes if size <= most for name, one in by_size[size].items()}
        for need, most in largest.items()
    }


def _classes(table: DataFrame, columns: Iterable[str]) -> SubsetClasses:
    sizes = table.groupBy(*columns).agg(F.expr("count(1) as n"))
    (row,) = sizes.selectExpr(
        "count_if(n = 1) as singles",
        "coalesce(sum(n), 0) as records",
        # the square of a large table does not fit into 64 bits
        "coalesce(sum(cast(n as decimal(19, 0)) * n), 0) as squares",
    ).collect()
    return SubsetClasses(int(row["singles"]), int(row["records"]), int(row["squares"]))


def _diversities(source: Source, needs: Sequence[Need[Any]], known: Known) -> Answers:
    sides = source.sides
    columns = {name: sensitive(sides.released, f"s{i}") for i, name in enumerate(sides.sensitive)}

    def of(c: float) -> Mapping[str, Diversity]:
        return {
            name: diversity_of(sides.released, sides.released_cells, column, c)
            for name, column in columns.items()
        }

    return {need: of(need.c) for need in needs if isinstance(need, Diversities)}


def _row_by_row(source: Source, needs: Sequence[Need[Any]], known: Known) -> Answers:
    """Everything that is a sum over records, in one pass over the pair, or one over each side."""
    sides, compared = source.sides, source.sides.compared
    needs = list(dict.fromkeys([*(own for need in needs for own in need.needs), *needs]))
    binnings: tuple[sampling.Binning, ...] = ()
    if {Bins(), RankGrids()} & set(needs):
        x = sampling.sample(sides.original, [c.x for c in compared], source.given.rows)
        if Bins() in needs:
            z = sampling.sample(sides.released, [c.z for c in compared], source.given.rows)
            binnings = sampling.binnings(compared, x, z)
        if RankGrids() in needs:
            grids = _rank_grids(source, sampling.cuts(compared, x))
            known = known.with_answers({RankGrids(): grids})
    sums = tuple(need for need in needs if isinstance(need, PairTally | SideTally))
    bins = Bin(binnings)
    if sides.pair is not None:
        counting = BothSides(compared, source.given, known, sums, bins)
        found = tally(sides.pair.selectExpr(*sides_of(compared)), counting)
        answers: dict[Need[Any], Any] = {need: found[i] for i, need in enumerate(sums)}
        both = found["bins"]
    else:
        numbers = sides_of(compared)
        each = (("x", sides.original, numbers[: len(compared)]),
                ("z", sides.released, numbers[len(compared) :]))  # fmt: skip
        x_found, z_found = (
            tally(table.selectExpr(*cells), OneSide(compared, source.given, known, sums, bins, at))
            for at, table, cells in each
        )
        answers = {need: (x_found[i], z_found[i]) for i, need in enumerate(sums)}
        both = x_found["bins"], z_found["bins"]
    if binnings:
        answers[Bins()] = (*both, tuple(b.bins for b in binnings))
    if RankGrids() in known:
        answers[RankGrids()] = known[RankGrids()]
    return answers | {need: True for need in needs if isinstance(need, GroupMeans)}


def _rank_grids(source: Source, cuts: Sequence[Any]) -> tuple[ranks.RankGrid, ...]:
    compared = source.sides.compared
    originals = [f"{c.x} as x{i}" for i, c in enumerate(compared)]
    counting = Cuts(compared, source.given.statistics, tuple(cuts))
    return ranks.finish(tally(source.sides.original.selectExpr(*originals), counting), cuts)


def _linked(source: Source, needs: Sequence[Need[Any]], known: Known) -> Answers:
    pair = source.sides.pair
    if pair is None:
        return {}

    def of(need: Linked) -> Links | Unanswerable:
        statistics, space = source.given.statistics, source.space
        return linkage(source.sides, pair, statistics, space, need.targets, words=source.words)

    return {need: of(need) for need in needs if isinstance(need, Linked)}


_KINDS: tuple[
    tuple[str, tuple[type[Any], ...], Callable[[Source, Sequence[Need[Any]], Known], Answers]],
    ...,
] = (
    ("classes", (Sizes,), _sizes),
    ("loss", (PairTally, SideTally, Bins, RankGrids, GroupMeans), _row_by_row),
    ("subsets", (Subsets,), _subsets),
    ("attributes", (Diversities,), _diversities),
    ("linkage", (Linked,), _linked),
)
