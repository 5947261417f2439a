"""Cut the table into blocks, mask every block, and write the result where only we can read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.blocks import Leaf, Tree, fit_tree
from sparkanon.engine import tables
from sparkanon.engine.assign import block_of
from sparkanon.engine.columns import Columns
from sparkanon.engine.files import Staging
from sparkanon.engine.fit import Facts, draw_sample, fillings, usable
from sparkanon.engine.mask import BlockFacts, Masking, told
from sparkanon.engine.names import BLOCK, DRAWN, FACTS, GROUP, col
from sparkanon.engine.verify import drawn_hashes
from sparkanon.numeric.warm import warm
from sparkanon.policy import NullPolicy, Policy
from sparkanon.rng import Seed

Draws = Sequence[Sequence[str]] | None


@dataclass(frozen=True)
class Cuttings:
    """The rows that take part, with their keys, and the tree that says which block is whose."""

    rows: DataFrame
    tree: Tree
    floor: int  # no block may hold fewer records


def cut(keyed: DataFrame, facts: Facts, policy: Policy) -> Cuttings:
    """Fit the block tree on a hash sample; drop or fill nulls as the policy says."""
    if policy.nulls is NullPolicy.DROP_ROW:
        keyed = keyed.filter(usable(facts.quasi))
    # a block must hold many groups, whatever k is
    block_rows = max(policy.method.grouping.block_rows, 8 * policy.k)
    floor = max(block_rows // 20, 4 * policy.k)
    blocks = 1 + facts.rows // block_rows
    imputes = policy.nulls is NullPolicy.IMPUTE
    if blocks == 1 and not imputes:
        return Cuttings(keyed, Tree(Leaf()), 0)
    sample = draw_sample(keyed, facts, blocks)
    if imputes:
        fill = fillings(sample, facts.quasi)
        keyed = keyed.withColumns(
            {name: F.coalesce(col(name), fill[name]) for name in keyed.columns if name in fill}
        )
    units = policy.method.space.fit(facts.statistics).units
    return Cuttings(keyed, fit_tree(sample, units, facts.rows, block_rows, floor), floor)


@dataclass(frozen=True)
class Staged:
    """What was staged, in how many blocks, and what they told."""

    blocks: int
    facts: list[BlockFacts]


def stage(
    cuttings: Cuttings,
    columns: Columns,
    facts: Facts,
    policy: Policy,
    seed: Seed,
    staging: Staging,
) -> Staged:
    """Mask every block into the staging folder.

    Blocks are counted while they are masked. One that turns out too small (the sample could not
    know) is merged with its sibling and the step is done again.
    """
    warm()  # once here, so that no worker has to compile
    method = policy.method
    draws = method.release.draws(policy.quasi_identifiers)
    masking = Masking(
        quasi=facts.quasi,
        statistics=facts.statistics,
        space=method.space.fit(facts.statistics),
        grouping=method.grouping,
        release=method.release,
        k=policy.k,
        floor=cuttings.floor,
        keep_groups=draws is not None,
        key=seed.derive("masking"),
    )
    while True:
        if cuttings.tree.blocks == 1:
            masking = replace(masking, floor=0)
        seen = Observation()
        masked = _masked(cuttings, columns, masking, draws)
        watched = masked.observe(seen, F.collect_list(FACTS).alias("facts")).drop(FACTS)
        sink = policy.output if draws is None else None  # private columns: not yet its final form
        writer = tables.writer(watched, sink).format(tables.file_format(sink))
        writer.mode("overwrite").save(str(staging.table))
        blocks = told(seen.get["facts"])
        filled = {block.block for block in blocks if block.rows >= masking.floor}
        small = frozenset(range(cuttings.tree.blocks)) - filled
        if not small or cuttings.tree.blocks == 1:
            return Staged(cuttings.tree.blocks, blocks)
        cuttings = replace(cuttings, tree=cuttings.tree.without(small))


def _masked(cuttings: Cuttings, columns: Columns, masking: Masking, draws: Draws) -> DataFrame:
    extra = drawn_hashes(draws, cuttings.rows.schema) if draws is not None else []
    block = block_of(cuttings.tree, masking.quasi).alias(BLOCK)
    placed = cuttings.rows.select("*", *extra, block).repartitionById(cuttings.tree.blocks, BLOCK)
    masking = replace(masking, names=tuple(placed.columns))
    # `mapInArrow` takes a dot in a name for the way into a struct
    plain = placed.toDF(*(f"c{i}" for i in range(len(placed.columns))))
    return plain.mapInArrow(masking, staged_schema(columns, draws).add(FACTS, T.StringType()))


def staged_schema(columns: Columns, draws: Draws) -> T.StructType:
    """Public columns, and the private ones that a release which draws is verified by."""
    schema = columns.schema
    if draws is not None:
        for i in range(len(draws)):
            schema = schema.add(f"{DRAWN}{i}", T.LongType())
        schema = schema.add(GROUP, T.LongType())
    return schema
