"""Information loss, intervals, entropies and shapes of a pair, in one pass over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sparkanon.engine.count.passes import tally
from sparkanon.engine.pairs import sampling
from sparkanon.engine.pairs.pairs import Compared, Sides
from sparkanon.engine.pairs.tallies import records, sides_of
from sparkanon.measures import (
    Measure,
    distortion,
    entropy,
    histograms,
    intervals,
    loss,
    moments,
    ranks,
)
from sparkanon.measures.base import DISTORTION, ENTROPY
from sparkanon.measures.tally import Tally
from sparkanon.numeric.records import Floats
from sparkanon.numeric.statistics import ColumnStatistics


@dataclass(frozen=True)
class Found:
    """Measures, and what the report draws."""

    measures: list[Measure] = field(default_factory=list)
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Parts(Tally):
    """Tallies by name; a dict of them adds up like one."""

    by_name: _Sum


class _Sum(dict[str, Any]):
    def __add__(self, other: _Sum) -> _Sum:
        return _Sum({name: part + other[name] for name, part in self.items()})


@dataclass(frozen=True)
class PairCounting:
    """Everything that is asked for of one piece of the pair."""

    compared: tuple[Compared, ...]
    statistics: tuple[ColumnStatistics, ...]
    width: float
    wanted: frozenset[str]
    binnings: tuple[sampling.Binning, ...] = ()
    grids: tuple[ranks.RankGrid, ...] = ()

    def count(self, cells: pa.Table) -> Parts:
        original, released = records(self.compared, (cells, "x"), (cells, "z"))
        known = self.statistics
        found: dict[str, Any] = {
            "loss": np.array(loss.local(original, released, known)),
            "moments": moments.local(original, released, known),
            "shapes": histograms.local(original, released, known),
        }
        if "interval_sd" in self.wanted:
            found["interval_sd"] = intervals.local_sd(original, released, known, self.width)
        if self.grids:
            found["interval_rank"] = intervals.local_rank(
                original, released, known, self.grids, self.width
            )
        if self.binnings:
            found["bins_x"] = _bins(cells, "x", self.binnings)
            found["bins_z"] = _bins(cells, "z", self.binnings)
        return Parts(_Sum(found))


@dataclass(frozen=True)
class SideCounting:
    """Moments and bins of one table alone."""

    compared: tuple[Compared, ...]
    statistics: tuple[ColumnStatistics, ...]
    letter: str
    binnings: tuple[sampling.Binning, ...] = ()

    def count(self, cells: pa.Table) -> Parts:
        (one,) = records(self.compared, (cells, self.letter))
        found: dict[str, Any] = {"moments": moments.moments_of(one, self.statistics)}
        if self.binnings:
            found["bins"] = _bins(cells, self.letter, self.binnings)
        return Parts(_Sum(found))


@dataclass(frozen=True)
class CutCounting:
    """How many originals lie under, on and between the cuts."""

    compared: tuple[Compared, ...]
    statistics: tuple[ColumnStatistics, ...]
    cuts: tuple[Floats, ...]

    def count(self, cells: pa.Table) -> ranks.CutCounts:
        (original,) = records(self.compared, (cells, "x"))
        return ranks.local(original, self.statistics, self.cuts)


def _bins(cells: pa.Table, letter: str, binnings: Sequence[sampling.Binning]) -> entropy.BinCounts:
    codes = [
        b.codes(cells.column(f"{letter}{i}").combine_chunks()) for i, b in enumerate(binnings)
    ]
    return entropy.local(codes, [b.bins for b in binnings])


def losses(
    sides: Sides,
    statistics: tuple[ColumnStatistics, ...],
    wanted: frozenset[str],
    width: float,
    k: int,
) -> Found:
    """All of `wanted` that needs no search and no classes; paired, or what is left without."""
    compared = sides.compared
    binned: tuple[sampling.Binning, ...] = ()
    grids: tuple[ranks.RankGrid, ...] = ()
    rows = statistics[0].n
    if wanted & {*ENTROPY, "interval_rank"}:
        x = sampling.sample(sides.original, [c.x for c in compared], rows)
        z = sampling.sample(sides.released, [c.z for c in compared], rows)
        if wanted & set(ENTROPY):
            binned = sampling.binnings(compared, x, z)
        if "interval_rank" in wanted and sides.pair is not None:
            cuts = sampling.cuts(compared, x)
            originals = [f"{c.x} as x{i}" for i, c in enumerate(compared)]
            counted = tally(
                sides.original.selectExpr(*originals), CutCounting(compared, statistics, cuts)
            )
            grids = ranks.finish(counted, cuts)
    if sides.pair is None:
        return _apart(sides, statistics, wanted, binned)
    counting = PairCounting(compared, statistics, width, wanted, binned, grids)
    found = tally(sides.pair.selectExpr(*sides_of(compared)), counting).by_name
    measures = loss.finish(found["loss"], statistics, sides.suppressed / rows)
    measures += distortion.finish(found["moments"], statistics)
    if "interval_sd" in found:
        measures += intervals.finish_sd(found["interval_sd"], statistics)
    if grids:
        measures += intervals.finish_rank(found["interval_rank"], statistics)
    if binned:
        columns = [b.bins for b in binned]
        measures += entropy.finish(found["bins_x"], found["bins_z"], columns)
    parts = {"distributions": histograms.finish(found["shapes"], statistics, k)}
    parts |= _correlations(*moments.correlations(found["moments"]), statistics)
    return Found([m for m in measures if m.measure in wanted], parts)


def _apart(
    sides: Sides,
    statistics: tuple[ColumnStatistics, ...],
    wanted: frozenset[str],
    binned: tuple[sampling.Binning, ...],
) -> Found:
    compared = sides.compared
    found = {}
    for letter, table in (("x", sides.original), ("z", sides.released)):
        numbers = [f"{getattr(c, letter)} as {letter}{i}" for i, c in enumerate(compared)]
        counting = SideCounting(compared, statistics, letter, binned)
        found[letter] = tally(table.selectExpr(*numbers), counting).by_name
    x, z = found["x"]["moments"], found["z"]["moments"]
    measures = distortion.marginal(x, z, statistics)
    if binned:
        columns = [b.bins for b in binned]
        measures += entropy.finish(found["x"]["bins"], found["z"]["bins"], columns)
    parts = _correlations(x.correlations(), z.correlations(), statistics)
    return Found([m for m in measures if m.measure in wanted], parts)


def _correlations(
    original: Floats, released: Floats, statistics: Sequence[ColumnStatistics]
) -> dict[str, Any]:
    names = [statistics[at].name for at in moments.ordered(statistics)]
    if len(names) < 2:
        return {}
    return {
        "correlations": {
            "columns": names,
            "original": np.round(original, 4).tolist(),
            "released": np.round(released, 4).tolist(),
        }
    }


# Measures that compare a record with itself: without the pairing they cannot be had.
PAIRED = frozenset(
    {"sse", "sst", "interval_sd", "interval_rank", *DISTORTION}
    - {"eigen_difference", "correlation_error"}
)
