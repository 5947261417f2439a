"""Cut the table into blocks: the tree is fitted on a hash sample."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sparkanon.blocks import Leaf, Tree, fit_tree, rows_of_a_block
from sparkanon.engine.fit.answers import ANSWERS, Source
from sparkanon.engine.fit.facts import Facts, draw_sample, fillings, usable
from sparkanon.engine.sql.names import col
from sparkanon.engine.verify.constraints import Constraints, constraints
from sparkanon.groupings import Crossing
from sparkanon.needs import answered
from sparkanon.policy import NullPolicy, Policy
from sparkanon.spaces import FittedSpace

ASIDE = 0.3  # where the second tree cuts: a good way from the medians of the first


@dataclass(frozen=True)
class Cuttings:
    """The rows that take part, with their keys, and the tree that says which block is whose."""

    rows: DataFrame
    tree: Tree
    space: FittedSpace
    floor: int  # no block may hold fewer records
    constraints: Constraints
    second: Tree | None = None  # other cuts, if groups are to go across the borders of the first


def cut(keyed: DataFrame, facts: Facts, policy: Policy) -> Cuttings:
    """Fit the block tree on a hash sample; drop or fill nulls as the policy says."""
    if policy.nulls is NullPolicy.DROP_ROW:
        keyed = keyed.filter(usable(facts.quasi))
    block_rows, floor = rows_of_a_block(policy.method.grouping.block_rows, policy.k)
    blocks = 1 + facts.rows // block_rows
    imputes = policy.nulls is NullPolicy.IMPUTE
    if blocks == 1 and not imputes:
        space = _fitted(keyed, facts, policy)
        return Cuttings(keyed, Tree(Leaf()), space, 0, constraints(keyed, policy))
    sample = draw_sample(keyed, facts, blocks)
    if imputes:
        fill = fillings(keyed.sparkSession, sample, facts.quasi)
        keyed = keyed.withColumns(
            {name: F.coalesce(col(name), fill[name]) for name in keyed.columns if name in fill}
        )
    space = _fitted(keyed, facts, policy)
    tree = fit_tree(sample, space.units, facts.rows, block_rows, floor)
    second = None
    grouping = policy.method.grouping
    if tree.blocks > 1 and isinstance(grouping, Crossing) and grouping.crosses:
        second = fit_tree(sample, space.units, facts.rows, block_rows, floor, ASIDE)
    return Cuttings(keyed, tree, space, floor, constraints(keyed, policy), second)


def _fitted(rows: DataFrame, facts: Facts, policy: Policy) -> FittedSpace:
    space = policy.method.space
    return space.fit(answered(space.needs(), ANSWERS, Source(rows, facts, policy.k)))
