"""From a policy to a verified release: the flow, one line a step."""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.blocks import Tree, fit_tree
from sparkanon.engine import tables
from sparkanon.engine.assign import block_of
from sparkanon.engine.columns import Columns, resolve
from sparkanon.engine.files import Staging, write_atomically
from sparkanon.engine.fit import Facts, draw_sample, fillings, gather, usable, with_key
from sparkanon.engine.manifest import Gate, check_gates, make_manifest
from sparkanon.engine.mask import BlockFacts, Masking, told
from sparkanon.engine.names import BLOCK, DRAWN, FACTS, GROUP, KEY, col
from sparkanon.engine.publish import publish, staging_for
from sparkanon.engine.steps import Steps, Watcher
from sparkanon.engine.verify import drawn_hashes, verify
from sparkanon.errors import GateError, InputError, Problem, SparkanonError
from sparkanon.measures import Measure, loss
from sparkanon.measures.anonymity import ClassSizes
from sparkanon.numeric.warm import warm
from sparkanon.policy import NullPolicy, Policy, check_policy, make_policy, read_seed
from sparkanon.rng import Seed


@dataclass(frozen=True)
class Release:
    """A verified release. `data` is None when nothing was to be published (`dry_run`)."""

    status: str  # published, dry_run
    data: DataFrame | None
    manifest: dict[str, Any]
    measures: tuple[Measure, ...]
    gates: tuple[Gate, ...]
    manifest_path: Path | None = None

    @property
    def run_id(self) -> str:
        return str(self.manifest["run_id"])


class RefusedError(GateError):
    """A gate was not passed; carries what was measured, for whoever wants to see it."""

    def __init__(self, release: Release) -> None:
        self.release = release
        failed = [gate for gate in release.gates if not gate.passed]
        super().__init__([Problem(f"gates.{g.gate}", _failure(g)) for g in failed])


def _failure(gate: Gate) -> str:
    measured = "could not be measured" if gate.value is None else f"is {gate.value:.6g}"
    return f"{measured}, the limit is {gate.limit:g}; nothing was published"


@dataclass(frozen=True)
class Run:
    """What stays the same through all steps of one run."""

    spark: SparkSession
    policy: Policy
    seed: Seed
    run_id: str
    steps: Steps


def new_run_id() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def anonymize(
    df: DataFrame | None,
    policy: Policy | Mapping[str, Any],
    *,
    dry_run: bool = False,
    watcher: Watcher | None = None,
    run_id: str | None = None,
    spark: SparkSession | None = None,
) -> Release:
    """Publish a k-anonymous version of a table, verified before anyone can read it.

    Parameters
    ----------
    df : the table; None reads the policy's `input`
    policy : a Policy, or a mapping of the YAML's shape. Without `output` the release is only
        returned, and its files live as long as this process.
    dry_run : do everything but publish

    Raises
    ------
    PolicyError, InputError : nothing was written
    GateError : the release was not safe or not useful enough; the old one still stands
    """
    policy = check_policy(policy) if isinstance(policy, Policy) else make_policy(policy)
    session = spark or (df.sparkSession if df is not None else None)
    if session is None:
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    run = Run(session, policy, read_seed(policy.seed), run_id or new_run_id(), Steps(watcher))
    try:
        return _anonymize(run, df, dry_run)
    except PySparkException as error:
        if tables.is_unreadable(error):
            raise tables.unreadable(policy.input) from None
        raise


def _anonymize(run: Run, df: DataFrame | None, dry_run: bool) -> Release:
    policy, step = run.policy, run.steps.step
    with step("read"):
        table = _read(run, df)
        columns = resolve(policy, table.data.schema)
        if policy.output is not None:
            tables.check_writable(policy.output, columns.schema)
        staging = staging_for(run.spark, policy.output, run.run_id, _scratch())
        keyed = with_key(table.data, columns)
    with step("fit"):
        facts = gather(keyed, columns, policy.k, policy.nulls)
        run.steps.note(f"{facts.rows:,} rows, {len(facts.quasi)} quasi-identifiers")
    with step("cut"):
        keyed, tree, floor = _cut(run, keyed, facts)
        run.steps.note(f"{tree.blocks:,} block{'s' * (tree.blocks > 1)}")
    with staging:
        with step("mask"):
            tree, blocks = _mask(run, keyed, columns, facts, tree, floor, staging)
        with step("verify"):
            staged = _staged(run, columns, staging)
            draws = policy.method.release.draws(policy.quasi_identifiers)
            sizes = verify(staged, policy.quasi_identifiers, draws, policy.k, facts.rows)
            run.steps.note(f"{sizes.classes:,} classes, the smallest has {sizes.smallest:,}")
        measures = _measures(blocks, facts, sizes)
        gates = check_gates(policy, measures)
        status = "refused" if not all(g.passed for g in gates) else "published"
        release = Release(
            status="dry_run" if dry_run and status == "published" else status,
            data=None,
            manifest=_manifest(run, status, table.version, facts, tree, sizes, measures, gates),
            measures=tuple(measures),
            gates=tuple(gates),
        )
        if status == "refused":
            raise RefusedError(replace(release, manifest_path=_record(run, release, dry_run)))
        if dry_run:
            release.manifest["status"] = "dry_run"
            return release
        with step("publish"):
            data = _publish(run, columns, staged, staging, release.manifest)
    release.manifest["seconds"] = dict(run.steps.seconds)
    return replace(release, data=data, manifest_path=_record(run, release, dry_run))


def _read(run: Run, df: DataFrame | None) -> tables.Table:
    if df is not None:
        return tables.Table(df)
    if run.policy.input is None:
        raise InputError(Problem("input", "is required when no DataFrame is given"))
    return tables.read(run.spark, run.policy.input, run.policy)


def _cut(run: Run, keyed: DataFrame, facts: Facts) -> tuple[DataFrame, Tree, int]:
    """The block tree, on a sample; and the table without the nulls the policy does not want."""
    policy = run.policy
    if policy.nulls is NullPolicy.DROP_ROW:
        keyed = keyed.filter(usable(facts.quasi))
    # a block must hold many groups, whatever k is
    block_rows = max(policy.method.grouping.block_rows, 8 * policy.k)
    floor = max(block_rows // 20, 4 * policy.k)
    blocks = 1 + facts.rows // block_rows
    if blocks == 1 and policy.nulls is not NullPolicy.IMPUTE:
        return keyed, fit_tree_of_one(), 0
    sample = draw_sample(keyed, facts, blocks)
    if policy.nulls is NullPolicy.IMPUTE:
        fill = fillings(sample, facts.quasi)
        keyed = keyed.withColumns(
            {n: F.coalesce(col(n), fill[n]) for n in keyed.columns if n in fill}
        )
    units = policy.method.space.fit(facts.statistics).units
    return keyed, fit_tree(sample, units, facts.rows, block_rows, floor), floor


def fit_tree_of_one() -> Tree:
    from sparkanon.blocks import Leaf

    return Tree(Leaf())


def _mask(
    run: Run,
    keyed: DataFrame,
    columns: Columns,
    facts: Facts,
    tree: Tree,
    floor: int,
    staging: Staging,
) -> tuple[Tree, list[BlockFacts]]:
    """Group and release every block into the staging folder.

    Blocks are counted while they are masked. One that turns out too small (the sample could not
    know) is merged with its sibling and the step is done again.
    """
    warm()  # once here, so that no worker has to compile
    method = run.policy.method
    draws = method.release.draws(run.policy.quasi_identifiers)
    extra = drawn_hashes(draws, keyed.schema) if draws is not None else []
    while True:
        masking = Masking(
            quasi=facts.quasi,
            statistics=facts.statistics,
            space=method.space.fit(facts.statistics),
            grouping=method.grouping,
            release=method.release,
            k=run.policy.k,
            floor=floor if tree.blocks > 1 else 0,
            keep_groups=draws is not None,
            key=run.seed.derive("masking"),
        )
        schema = _staged_schema(columns, draws).add(FACTS, T.StringType())
        seen = Observation()
        masked = (
            keyed.select("*", *extra, block_of(tree, facts.quasi).alias(BLOCK))
            .repartitionById(tree.blocks, BLOCK)
            .mapInArrow(masking, schema)
            .observe(seen, F.collect_list(FACTS).alias("facts"))
            .drop(FACTS)
        )
        sink = run.policy.output
        tables.writer(masked, sink if draws is None else None).format(
            tables.file_format(sink)
        ).mode("overwrite").save(str(staging.table))
        blocks = told(seen.get["facts"])
        small = frozenset(block.block for block in blocks if block.rows < masking.floor)
        small |= frozenset(range(tree.blocks)) - {block.block for block in blocks}
        if not small or tree.blocks == 1:
            return tree, blocks
        tree = tree.without(small)


def _staged_schema(columns: Columns, draws: object | None) -> T.StructType:
    """Public columns, and the private ones a release that draws is verified by."""
    schema = T.StructType(list(columns.released))
    if draws is not None:
        for i in range(len(list(draws))):  # type: ignore[call-overload]
            schema = schema.add(f"{DRAWN}{i}", T.LongType())
        schema = schema.add(GROUP, T.LongType())
    return schema


def _staged(run: Run, columns: Columns, staging: Staging) -> DataFrame:
    draws = run.policy.method.release.draws(run.policy.quasi_identifiers)
    schema = _staged_schema(columns, draws)
    return tables.read_staged(run.spark, str(staging.table), schema, run.policy.output)


def _measures(
    blocks: list[BlockFacts], facts: Facts, sizes: ClassSizes
) -> list[Measure]:
    lost = loss.finish(loss.merge(block.errors for block in blocks), facts.statistics)
    return [Measure("min_class_size", float(sizes.smallest)), *lost]


def _manifest(
    run: Run,
    status: str,
    version: int | None,
    facts: Facts,
    tree: Tree,
    sizes: ClassSizes,
    measures: list[Measure],
    gates: list[Gate],
) -> dict[str, Any]:
    # Keyed: whoever knows all rows but one must not be able to try out the last.
    fingerprint = run.seed.derive("fingerprint", facts.fingerprint).hex()
    return make_manifest(
        run_id=run.run_id,
        status=status,
        policy=run.policy,
        seed=run.seed,
        source={"version": version, "fingerprint": fingerprint},
        rows_in=facts.rows_in,
        rows_out=sizes.records,
        blocks=tree.blocks,
        sizes=sizes,
        measures=measures,
        gates=gates,
        seconds=dict(run.steps.seconds),
        spark_version=run.spark.version,
    )


def _publish(
    run: Run, columns: Columns, staged: DataFrame, staging: Staging, manifest: dict[str, Any]
) -> DataFrame:
    policy, sink = run.policy, run.policy.output
    private = policy.method.release.draws(policy.quasi_identifiers) is not None
    public = staged.select(*(col(field.name) for field in columns.released))
    if sink is None:
        folder = _scratch() / run.run_id
        if private:
            public.write.parquet(str(folder))
        else:
            staging.table.rename(folder)
        return run.spark.read.schema(columns.schema).parquet(str(folder))
    publish(run.spark, public, staging, sink, manifest, as_staged=not private)
    if sink.format == "table":
        return run.spark.table(sink.place)
    if sink.format == "delta":
        return run.spark.read.format("delta").load(sink.place)
    return tables.read_staged(run.spark, sink.place, columns.schema, sink)


def _record(run: Run, release: Release, dry_run: bool) -> Path | None:
    """Write the manifest into the folder of runs."""
    if dry_run or run.policy.output is None:
        return None
    import json

    path = Path(run.policy.runs) / run.run_id / "manifest.json"
    try:
        write_atomically(path, json.dumps(release.manifest, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise SparkanonError(f"cannot write the manifest {path}: {error.strerror}") from None
    return path


@cache
def _scratch() -> Path:
    """A private folder of this process, for releases that have no output of their own."""
    folder = Path(tempfile.mkdtemp(prefix="sparkanon-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
