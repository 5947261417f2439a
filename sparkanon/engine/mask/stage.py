"""Mask every block, and write the result where only we can read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import types as T

from sparkanon.engine.cut.assign import with_blocks
from sparkanon.engine.cut.cuttings import Cuttings
from sparkanon.engine.fit.facts import Facts, for_masking
from sparkanon.engine.mask.by_files import ByFiles
from sparkanon.engine.mask.by_spark import BySpark
from sparkanon.engine.mask.masking import GroupMaker, Masking
from sparkanon.engine.mask.shared import check_shared
from sparkanon.engine.mask.stager import Placed, Stager, Target
from sparkanon.engine.session.session import shares_folders
from sparkanon.engine.session.warm import warm
from sparkanon.engine.sql.names import BLOCK, DRAWN, GROUP, NEXT
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.table.columns import Columns
from sparkanon.engine.verify.constraints import impossible
from sparkanon.engine.verify.verify import drawn_hashes
from sparkanon.numeric.records import Floats, Scale
from sparkanon.policy import Policy, Role
from sparkanon.policy.model import Sink
from sparkanon.promises import Promise
from sparkanon.rng import Seed

STAGERS: Mapping[str, type[Stager]] = {"files": ByFiles, "spark": BySpark}


@dataclass(frozen=True)
class Staged:
    """How many blocks were staged, and what they reported."""

    blocks: int
    errors: Floats  # squared errors by column
    keys: tuple[int, int]  # xor and sum of the keys of all rows

    def fingerprint(self, seed: Seed, rows_in: int) -> str:
        """Of the rows that take part. Keyed: who knows all but one must not try out the last."""
        either, total = self.keys
        return seed.derive("fingerprint", f"{rows_in}:{either}:{total % 2**64}").hex()


def stage(cuttings: Cuttings, facts: Facts, policy: Policy, seed: Seed, target: Target) -> Staged:
    """Mask every block, and stage the rows.

    Blocks are counted while they are masked. A block with too few records (its size was only
    estimated on a sample), or with too few sensitive values to keep the constraints, is merged
    with its sibling, and the step is repeated.
    """
    method, promise, groups = policy.method, policy.promise, policy.groups
    warm(method.grouping, method.release)  # once here, so that no worker has to compile
    stager = stager_for(policy.output, target)
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
        with_originals=target.pairs is not None,
        key=seed.derive("masking", policy.meaning()),
        weight=next(iter(policy.with_role(Role.WEIGHT)), None),
    )
    while True:
        tree = cuttings.tree
        if tree.blocks == 1:
            masking = replace(masking, floor=0)
        reported = stager.mask(_placed(cuttings, masking, promise), masking)
        if reported.small and tree.blocks == 1:
            raise impossible()
        if reported.done and not reported.small:
            stager.keep()
            return Staged(tree.blocks, reported.errors, reported.keys)
        # If `small` is empty, blocks of the second round alone cannot keep the constraints. Then
        # the step is repeated without a second round, and blocks that cannot are merged.
        second = cuttings.second if reported.small else None
        cuttings = replace(cuttings, tree=tree.without(reported.small), second=second)


def stager_for(sink: Sink | None, target: Target) -> Stager:
    """What the policy says; else workers write files where they share a folder with the driver."""
    table, named = target.table, sink is not None and sink.stage_by
    shared = isinstance(table, Posix)
    if isinstance(table, Posix) and not shares_folders(target.spark):
        check_shared(target.spark, table.parent)
        shared = sink is not None and sink.staging is not None
    return STAGERS[named or ("files" if shared else "spark")](target)


def _placed(cuttings: Cuttings, masking: Masking, promise: Promise) -> Placed:
    """The rows in partitions by their blocks, with all that masking needs."""
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
    second = None if cuttings.second is None else cuttings.second.blocks
    names = tuple(placed.columns)
    plain = placed.toDF(*(f"c{i}" for i in range(len(names))))
    return Placed(plain, names, cuttings.tree.blocks, second)


def staged_schema(columns: Columns, promise: Promise) -> T.StructType:
    """Public columns, and the private ones that the promise is verified by."""
    schema = columns.schema
    for i in range(len(promise.units)):
        schema = schema.add(f"{DRAWN}{i}", T.LongType())
    return schema.add(GROUP, T.LongType()) if promise.numbered else schema
