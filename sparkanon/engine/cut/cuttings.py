"""Cut the table into blocks: the tree is fitted on a hash sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.blocks import Leaf, Sample, Tree, fit_tree, hashed_tree, rows_of_a_block
from sparkanon.engine.fit.answers import ANSWERS, Source
from sparkanon.engine.fit.facts import Facts, draw_sample, fillings, usable
from sparkanon.engine.sql.names import col
from sparkanon.engine.verify.constraints import Constraints, constraints
from sparkanon.groupings import Crossing
from sparkanon.needs import answered
from sparkanon.policy import NullPolicy, Policy
from sparkanon.policy.model import Groups
from sparkanon.releases import FittedRelease
from sparkanon.spaces import FittedSpace

ASIDE = 0.3  # the quantile at which the second tree cuts, away from the medians of the first
UNGROUPED_ROWS = 200_000  # records that are masked together where no groups are made


@dataclass(frozen=True)
class Cuttings:
    """The rows that take part, with their keys, and the tree that says which block is whose."""

    rows: DataFrame
    release: FittedRelease
    tree: Tree
    constraints: Constraints
    space: FittedSpace | None = None  # None: no groups are made
    floor: int = 0  # no block may hold fewer records
    second: Tree | None = None  # other cuts, if groups are to go across the borders of the first

    @property
    def fitted(self) -> Mapping[str, float]:
        """What was found by fitting that the manifest may hold."""
        return {} if self.space is None else self.space.summary


def cut(keyed: DataFrame, facts: Facts, policy: Policy) -> Cuttings:
    """Drop or fill nulls as the policy says, fit space and release, cut the rows into blocks."""
    groups, nulls = policy.groups, policy.nulls
    rows = keyed.filter(usable(facts.quasi)) if nulls is NullPolicy.DROP_ROW else keyed
    blocks = 1 if groups is None else 1 + facts.rows // _rows_of_a_block(groups)[0]
    sample = None
    if blocks > 1 or nulls is NullPolicy.IMPUTE:
        sample = draw_sample(rows, facts, blocks)
    if sample is not None and nulls is NullPolicy.IMPUTE:
        fill = fillings(rows.sparkSession, sample, facts.quasi)
        rows = rows.withColumns(
            {name: F.coalesce(col(name), fill[name]) for name in rows.columns if name in fill}
        )
    method = policy.method
    needs = (*method.release.needs(), *(method.space.needs() if groups is not None else ()))
    known = answered(needs, ANSWERS, Source(rows, facts, None if groups is None else groups.k))
    release = method.release.fit(known)
    if groups is None:
        tree = hashed_tree(facts.rows, UNGROUPED_ROWS)
        return Cuttings(rows, release, tree, Constraints())
    space = method.space.fit(known)
    made = Cuttings(rows, release, Tree(Leaf()), constraints(rows, policy), space)
    return made if sample is None else _in_blocks(made, sample, facts.rows, groups)


def _in_blocks(made: Cuttings, sample: Sample, rows: int, groups: Groups) -> Cuttings:
    """Cut by values, so that records near each other share a block."""
    most, floor = _rows_of_a_block(groups)
    units = {} if made.space is None else made.space.units
    tree = fit_tree(sample, units, rows, most, floor)
    second = None
    if tree.blocks > 1 and isinstance(groups.grouping, Crossing) and groups.grouping.crosses:
        second = fit_tree(sample, units, rows, most, floor, ASIDE)
    return replace(made, tree=tree, floor=floor, second=second)


def _rows_of_a_block(groups: Groups) -> tuple[int, int]:
    return rows_of_a_block(groups.grouping.block_rows, groups.k)
