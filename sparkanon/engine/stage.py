"""Cut the table into blocks, mask every block, and write the result where only we can read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.blocks import Leaf, Tree, fit_tree, rows_of_a_block
from sparkanon.engine.assign import with_blocks
from sparkanon.engine.columns import Columns
from sparkanon.engine.constraints import Constraints, constraints, impossible
from sparkanon.engine.fit import Facts, as_told, draw_sample, fillings, usable
from sparkanon.engine.guide import fit_space
from sparkanon.engine.handover import HandOver, TakeOver, handed
from sparkanon.engine.mask import BlockFacts, Masking, told
from sparkanon.engine.names import BLOCK, DRAWN, GROUP, NEXT, col
from sparkanon.engine.owned import remove
from sparkanon.engine.session import batches_by_rows
from sparkanon.engine.verify import drawn_hashes
from sparkanon.engine.warm import warm
from sparkanon.errors import InputError, Problem
from sparkanon.groupings import Crossing
from sparkanon.numeric.records import Scale
from sparkanon.policy import NullPolicy, Policy, Role
from sparkanon.promises import Promise
from sparkanon.rng import Seed
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
        space = fit_space(keyed, facts, policy)
        return Cuttings(keyed, Tree(Leaf()), space, 0, constraints(keyed, policy))
    sample = draw_sample(keyed, facts, blocks)
    if imputes:
        fill = fillings(keyed.sparkSession, sample, facts.quasi)
        keyed = keyed.withColumns(
            {name: F.coalesce(col(name), fill[name]) for name in keyed.columns if name in fill}
        )
    space = fit_space(keyed, facts, policy)
    tree = fit_tree(sample, space.units, facts.rows, block_rows, floor)
    second = None
    grouping = policy.method.grouping
    if tree.blocks > 1 and isinstance(grouping, Crossing) and grouping.crosses:
        second = fit_tree(sample, space.units, facts.rows, block_rows, floor, ASIDE)
    return Cuttings(keyed, tree, space, floor, constraints(keyed, policy), second)


@dataclass(frozen=True)
class Staged:
    """What was staged, in how many blocks, and what they told."""

    blocks: int
    facts: list[BlockFacts]


def stage(
    cuttings: Cuttings,
    facts: Facts,
    policy: Policy,
    seed: Seed,
    folder: Path,
    pairs: Path | None = None,
) -> Staged:
    """Mask every block into Parquet files in the staging folder, and pairs into another.

    Blocks are counted while they are masked. One that turns out too small (the sample could not
    know), or too uniform for the constraints, is merged with its sibling and the step done again.
    """
    warm(
        policy.method.grouping, policy.method.release
    )  # once here, so that no worker has to compile
    method = policy.method
    promise = policy.promise
    work = folder.with_name("work")
    masking = Masking(
        quasi=facts.quasi,
        statistics=facts.statistics,
        space=cuttings.space,
        grouping=method.grouping,
        release=method.release,
        constraints=cuttings.constraints,
        k=policy.k,
        floor=cuttings.floor,
        keep_groups=promise.grouped,
        pair_with=policy.with_role(Role.SENSITIVE) if pairs is not None else None,
        folder=str(work),
        key=seed.derive("masking", policy.meaning()),
        weight=next(iter(policy.with_role(Role.WEIGHT)), None),
    )
    while True:
        work.mkdir()
        tree = cuttings.tree
        if tree.blocks == 1:
            masking = replace(masking, floor=0)
        blocks = _masked(cuttings, masking, promise)
        small = frozenset(range(tree.blocks)) - {block.block for block in blocks if block.done}
        if small and tree.blocks == 1:
            raise impossible()
        if not small and cuttings.second is not None:
            blocks = _taken_over(cuttings, cuttings.second, masking, blocks)
        if all(block.file for block in blocks) and not small:
            if pairs is not None:
                _move(work, pairs, {block.pair for block in blocks})
            _move(work, folder, {block.file for block in blocks})
            remove(work)
            return Staged(tree.blocks, blocks)
        remove(work)
        # too uniform for the constraints after the second round: one must do
        second = cuttings.second if small else None
        cuttings = replace(cuttings, tree=tree.without(small), second=second)


def _masked(cuttings: Cuttings, masking: Masking, promise: Promise) -> list[BlockFacts]:
    extra = drawn_hashes(promise.blocks, cuttings.rows.schema)
    extra += cuttings.constraints.extra
    numbers = {q.name: q.number for q in masking.quasi}
    nominal = {q.name for q in masking.quasi if q.scale is Scale.NOMINAL}
    trees = {BLOCK: cuttings.tree}
    if cuttings.second is not None:
        trees[NEXT] = cuttings.second
    rows = as_told(cuttings.rows, masking.quasi)
    placed = with_blocks(rows.selectExpr("*", *extra), trees, numbers, nominal)
    placed = placed.repartitionById(cuttings.tree.blocks, BLOCK)
    masking = replace(masking, names=tuple(placed.columns))
    # `mapInArrow` takes a dot in a name for the way into a struct
    plain = placed.toDF(*(f"c{i}" for i in range(len(placed.columns))))
    return _facts(plain, masking if cuttings.second is None else HandOver(masking))


def _taken_over(
    cuttings: Cuttings, second: Tree, masking: Masking, blocks: Sequence[BlockFacts]
) -> list[BlockFacts]:
    """The second round: mask what the blocks of the first one have handed over."""
    files = handed(blocks)
    _check_shared(Path(masking.folder), set(files.column("file").to_pylist()))
    named = cuttings.rows.sparkSession.createDataFrame(files)
    named = named.repartitionById(second.blocks, "block")
    return _facts(named, TakeOver(replace(masking, floor=0)))


def _facts(rows: DataFrame, work: Masking | HandOver | TakeOver) -> list[BlockFacts]:
    with batches_by_rows(rows.sparkSession):
        found = rows.mapInArrow(work, "facts string").collect()  # one row a block
    return told(row["facts"] for row in found)


def _move(work: Path, folder: Path, names: set[str]) -> None:
    """Take what the successful tasks name; a lost one that still writes cannot reach the table."""
    _check_shared(work, names)
    folder.mkdir()
    for name in names:
        (work / name).rename(folder / name)
    (folder / "_SUCCESS").touch()


def _check_shared(work: Path, names: set[str]) -> None:
    if names - {path.name for path in work.glob("part-*")}:
        raise InputError(
            Problem("output", "driver and executors do not see the same folder; use a shared one")
        )


def staged_schema(columns: Columns, promise: Promise) -> T.StructType:
    """Public columns, and the private ones that the promise is verified by."""
    schema = columns.schema
    for i in range(len(promise.blocks)):
        schema = schema.add(f"{DRAWN}{i}", T.LongType())
    return schema.add(GROUP, T.LongType()) if promise.grouped else schema
