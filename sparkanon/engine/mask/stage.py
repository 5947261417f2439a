"""Mask every block, and write the result where only we can read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from sparkanon.blocks import Tree
from sparkanon.engine.cut.assign import with_blocks
from sparkanon.engine.cut.cuttings import Cuttings
from sparkanon.engine.fit.facts import Facts, for_masking
from sparkanon.engine.mask.handover import HandOver, TakeOver, handed
from sparkanon.engine.mask.masking import BlockFacts, GroupMaker, Masking, block_facts
from sparkanon.engine.session.session import batches_by_rows
from sparkanon.engine.session.warm import warm
from sparkanon.engine.sql.names import BLOCK, DRAWN, GROUP, NEXT
from sparkanon.engine.stores.owned import remove
from sparkanon.engine.stores.place import Place
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.table.columns import Columns
from sparkanon.engine.verify.constraints import impossible
from sparkanon.engine.verify.verify import drawn_hashes
from sparkanon.errors import InputError, Problem
from sparkanon.numeric.records import Scale
from sparkanon.policy import Policy, Role
from sparkanon.promises import Promise
from sparkanon.rng import Seed


@dataclass(frozen=True)
class Staged:
    """How many blocks were staged, and what each reported."""

    blocks: int
    facts: list[BlockFacts]

    def fingerprint(self, seed: Seed, rows_in: int) -> str:
        """Of the rows that take part. Keyed: who knows all but one must not try out the last."""
        either = reduce(xor, (block.keys[0] for block in self.facts))
        total = sum(block.keys[1] for block in self.facts) % 2**64
        return seed.derive("fingerprint", f"{rows_in}:{either}:{total}").hex()


def stage(
    cuttings: Cuttings,
    facts: Facts,
    policy: Policy,
    seed: Seed,
    folder: Place,
    pairs: Place | None = None,
) -> Staged:
    """Mask every block into Parquet files in the staging folder, and pairs into another.

    Blocks are counted while they are masked. A block with too few records (its size was only
    estimated on a sample), or with too few sensitive values to keep the constraints, is merged
    with its sibling, and the step is repeated.
    """
    if not isinstance(folder, Posix):
        text = f"{folder}: workers cannot write files there; name a folder that all machines see"
        raise InputError(Problem("output.staging", text))
    method, promise, groups = policy.method, policy.promise, policy.groups
    warm(method.grouping, method.release)  # once here, so that no worker has to compile
    work = folder.with_name("work")
    masking = Masking(
        quasi=facts.quasi,
        statistics=facts.statistics,
        groups=None
        if groups is None or cuttings.space is None
        else GroupMaker(cuttings.space, groups.grouping, groups.k),
        release=cuttings.release,
        constraints=cuttings.constraints,
        floor=cuttings.floor,
        keep_groups=promise.numbered,
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
        # If `small` is empty, blocks of the second round alone cannot keep the constraints. Then
        # the step is repeated without a second round, and blocks that cannot are merged.
        second = cuttings.second if small else None
        cuttings = replace(cuttings, tree=tree.without(small), second=second)


def _masked(cuttings: Cuttings, masking: Masking, promise: Promise) -> list[BlockFacts]:
    extra = drawn_hashes(promise.units, cuttings.rows.schema)
    extra += cuttings.constraints.extra
    numbers = {q.name: q.number for q in masking.quasi}
    nominal = {q.name for q in masking.quasi if q.scale is Scale.NOMINAL}
    trees = {BLOCK: cuttings.tree}
    if cuttings.second is not None:
        trees[NEXT] = cuttings.second
    rows = for_masking(cuttings.rows, masking.quasi)
    placed = with_blocks(rows.selectExpr("*", *extra), trees, numbers, nominal)
    placed = placed.repartitionById(cuttings.tree.blocks, BLOCK)
    masking = replace(masking, names=tuple(placed.columns))
    # `mapInArrow` reads a dot in a name as access to a field of a struct
    plain = placed.toDF(*(f"c{i}" for i in range(len(placed.columns))))
    return _facts(plain, masking if cuttings.second is None else HandOver(masking))


def _taken_over(
    cuttings: Cuttings, second: Tree, masking: Masking, blocks: Sequence[BlockFacts]
) -> list[BlockFacts]:
    """The second round: mask what the blocks of the first one have handed over."""
    files = handed(blocks)
    _check_shared(Posix(masking.folder), set(files.column("file").to_pylist()))
    named = cuttings.rows.sparkSession.createDataFrame(files)
    named = named.repartitionById(second.blocks, "block")
    return _facts(named, TakeOver(replace(masking, floor=0)))


def _facts(rows: DataFrame, work: Masking | HandOver | TakeOver) -> list[BlockFacts]:
    with batches_by_rows(rows.sparkSession):
        found = rows.mapInArrow(work, "facts string").collect()  # one row a block
    return block_facts(row["facts"] for row in found)


def _move(work: Posix, folder: Place, names: set[str]) -> None:
    """Move the files that successful tasks named; a lost task that still writes is ignored."""
    _check_shared(work, names)
    folder.mkdir()
    for name in names:
        (work / name).rename(folder / name)  # type: ignore[arg-type]
    (folder / "_SUCCESS").write_text("", "utf-8")


def _check_shared(work: Posix, names: set[str]) -> None:
    if names - {path.name for path in work.glob("part-*")}:
        raise InputError(
            Problem("output", "driver and executors do not see the same folder; use a shared one")
        )


def staged_schema(columns: Columns, promise: Promise) -> T.StructType:
    """Public columns, and the private ones that the promise is verified by."""
    schema = columns.schema
    for i in range(len(promise.units)):
        schema = schema.add(f"{DRAWN}{i}", T.LongType())
    return schema.add(GROUP, T.LongType()) if promise.numbered else schema
