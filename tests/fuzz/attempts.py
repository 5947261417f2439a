"""One call of the product, and what must be true after it, whether it published or refused."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from checks import check_classes, check_rows, check_values, types_of
from leaks import Failure, demand, forms
from pairings import check_pairing
from policies import Plan
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from random_tables import Table
from reading import Released, read_delta, read_folder, typed_like

import sparkanon
from sparkanon.errors import GateError, InputError, PolicyError, SparkanonError, VerificationError
from sparkanon.groupings import GROUPINGS

OURS = {"people.parquet", "people.csv", "release", "runs", "private", "measures", "sweep"}
REFUSALS = (PolicyError, InputError, GateError)


@dataclass
class Setting:
    """What a case works with."""

    spark: SparkSession
    folder: Path
    table: Table
    warehouse: Path
    block_rows: int | None = None  # small ones, so that a small table has several
    crosses: bool = False
    texts: list[str] = field(default_factory=list)  # all that was said, for the search


@dataclass(frozen=True)
class Outcome:
    """What became of a call."""

    status: str  # published, dry_run, refused
    refusal: str = ""  # its kind
    reached: tuple[str, ...] = ()  # what of the product had its turn
    released: Released | None = None
    made: Any = None

    def rows(self) -> list[str]:
        assert self.released is not None
        names = sorted(self.released.rows.column_names)
        return sorted(map(repr, zip(*(self.released.cells(n) for n in names), strict=True)))


class Notes:
    """A watcher that keeps what a terminal would show."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def started(self, step: str) -> None:
        self.texts.append(step)

    def done(self, step: str, seconds: float, note: str) -> None:
        self.texts.append(note)


@contextmanager
def engine_as(at: Setting, plan: Plan, turn: int) -> Iterator[None]:
    """Spark's settings of this turn, and blocks as small as the case wants them."""
    conf = at.spark.conf
    compiled = str(turn % 2 == 1).lower()
    conf.set("spark.sql.adaptive.enabled", compiled)
    conf.set("spark.sql.shuffle.partitions", str(1 + 2 * (turn % 2)))
    # interpreted plans are quicker than compiled ones for tables this small
    conf.set("spark.sql.codegen.wholeStage", compiled)
    conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if turn % 2 else "NO_CODEGEN")
    with ExitStack() as stack:
        if at.block_rows is not None:
            grouping = type(GROUPINGS.build(plan.policy["method"].get("grouping", "mdav")))
            stack.enter_context(patch.object(grouping, "block_rows", at.block_rows))
            if at.crosses and hasattr(grouping, "crosses"):
                stack.enter_context(patch.object(grouping, "crosses", True))
        yield


def frame_of(at: Setting, parts: int) -> DataFrame:
    """The table with the types and the metadata that Parquet does not hold."""
    data = at.spark.read.parquet(str(at.folder / "people.parquet"))
    columns = []
    for name in data.columns:
        quoted = "`" + name.replace("`", "``") + "`"
        sql = next((q.sql for q in at.table.quasi if q.name == name), None)
        column = F.col(quoted)
        # labels of a StringIndexer: metadata that holds cells must not travel
        metadata = {"ml_attr": {"vals": sorted(at.table.secrets.names | at.table.secrets.words)}}
        if sql is not None and sql.startswith("varchar"):
            metadata["__CHAR_VARCHAR_TYPE_STRING"] = sql  # type: ignore[assignment]
        elif sql is not None:
            column = F.expr(f"cast({quoted} as {sql})")
        columns.append(column.alias(name, metadata=metadata))
    return data.select(*columns).repartition(parts)


def attempt(
    at: Setting, plan: Plan, *, turn: int = 0, parts: int = 1, dry_run: bool = False
) -> Outcome:
    """Anonymize, and hold what happened against what was foreseen."""
    before = listing(at.folder)
    data = None if "input" in plan.policy else frame_of(at, parts)
    try:
        with engine_as(at, plan, turn):
            made = sparkanon.anonymize(
                data, plan.policy, dry_run=dry_run, watcher=Notes(at.texts), spark=at.spark
            )
    except SparkanonError as error:
        at.texts += [str(error), "".join(traceback.format_exception(error))]
        return _refused(at, plan, error, before)
    demand(not plan.must, f"published, and must be refused: {', '.join(sorted(plan.must))}")
    at.texts.append(json.dumps(made.manifest))
    if dry_run:
        demand(made.status == "dry_run", "a dry run has another status")
        demand(listing(at.folder) == before, "a dry run left something")
        return Outcome("dry_run", made=made)
    demand(made.status == "published", "a release has another status")
    released = read(at, plan, made)
    check(at, plan, released, made)
    blocks = made.manifest["blocks"] > 1
    crossed = blocks and at.crosses and plan.policy["method"].get("grouping") == "refined"
    reached = (plan.release, plan.format or "memory", *plan.policy.get("constraints", ()))
    reached += ("blocks",) * blocks + ("crossing",) * crossed
    return Outcome("published", reached=reached, released=released, made=made)


def _refused(at: Setting, plan: Plan, error: SparkanonError, before: Mapping[str, str]) -> Outcome:
    text = str(error)
    kind = f"{type(error).__name__} {kind_of(text)}"
    demand(isinstance(error, REFUSALS), f"failed: {kind}")
    reasons = plan.must | plan.may
    is_gate = isinstance(error, GateError)
    if isinstance(error, VerificationError):
        torn = "nothing torn" in reasons and "nothing is torn apart" in text
        demand(torn, f"a promise failed inside: {kind}")
    elif is_gate:
        demand("gate" in reasons, f"stopped by a gate that holds: {kind}")
    else:
        demand(bool(reasons - {"gate", "nothing torn"}), f"refused without a reason: {kind}")
    demand(len(text) > 20, "a refusal says too little")
    demand(len(text) < 20_000, "a refusal says too much")
    after = listing(at.folder)
    kept = ("runs/", "measures/") if is_gate else ()  # what was measured is kept of a refusal, too
    left = {
        name: one for name, one in after.items() if name in before or not name.startswith(kept)
    }
    demand(left == before, "a refused run changed or left something")
    return Outcome("refused", refusal=kind)


def kind_of(text: str) -> str:
    """A message without names and numbers, so that messages can be counted."""
    first, *more = text.splitlines()
    path, colon, rest = first.partition(": ")
    path = re.sub(r"(columns|taxonomies)\..*", r"\1.*", path)
    words = re.sub(r"\d[\d.,]*", "#", re.sub(r"'[^']*'|\S*/\S*", "'...'", rest or path))
    head = f"{path}: {words}" if colon else words
    return head[:75] + (f" (and {len(more)} more)" if more else "")


def listing(folder: Path) -> dict[str, str]:
    """Every file, and a digest of what it holds."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read(at: Setting, plan: Plan, made: Any) -> Released:
    if plan.format is None:
        return Released(made.data.toArrow(), "", b"", exact=True)
    if plan.format == "table":
        found = read_folder(at.warehouse / plan.policy["output"]["name"], "parquet")
    elif plan.format == "delta":
        found = read_delta(at.folder / "release")
    else:
        found = read_folder(at.folder / "release", plan.format)
    return typed_like(found, types_of(plan, at.table))


def check(at: Setting, plan: Plan, released: Released, made: Any) -> None:
    """Everything that a release promises."""
    check_rows(plan, at.table, released)
    if not plan.draws:
        smallest = check_classes(plan, at.table, released)
        by_itself = plan.format != "csv" and "partition_by" not in plan.policy.get("output", {})
        if by_itself:  # CSV joins null and "" of text, and so do the names of folders
            demand(made.manifest["min_class_size"] == smallest, "another smallest class")
    check_values(plan, at.table, released)
    if "private" in plan.policy:
        check_pairing(plan, at.table, released, at.folder / "private")
    check_leaks(at, plan, released)
    for path in (at.folder / "runs").rglob("*") if plan.format is not None else ():
        demand(not stat.S_IMODE(path.stat().st_mode) & 0o077, "others may read a manifest")
    strangers = {path.name for path in at.folder.iterdir()} - OURS
    demand(not strangers, "something was left beside the release")


def check_leaks(at: Setting, plan: Plan, released: Released) -> None:
    """No identifier and no seed in the release, and nothing of a cell beside its rows."""
    secrets = at.table.secrets
    shown: set[str] = set()
    texts = repr(released.rows.to_pydict()) if _readable(released) else ""
    found = secrets.never_in(texts)
    demand(found is None, f"{found} is published")
    if plan.format == "delta":  # its log has the ends of what is published
        for name in released.rows.column_names:
            for cell in released.rows.column(name).to_pylist():
                shown |= {cell} if isinstance(cell, str) else set()
                shown |= forms(cell) if _is_number(cell) else set()
    found = secrets.never_in(released.texts) or secrets.cells_in(released.texts, shown)
    demand(found is None, f"{found} stands beside the rows")
    for word in (secrets.seed, *secrets.names):
        demand(word.encode() not in released.raw, "a secret stands in a file of the release")
    for word in secrets.words:
        if word not in texts:
            demand(word.encode() not in released.raw, "a category stands in a footer")


def _readable(released: Released) -> bool:
    return released.rows.num_rows <= 10_000


def _is_number(cell: Any) -> bool:
    return cell is not None and not isinstance(cell, str | bytes | bool | list | dict)


def said(at: Setting) -> str:
    """All texts of a case: messages, manifests, reports, and whatever lies in its folders."""
    places = [at.folder / "runs", at.folder / "sweep"]
    files = [path for place in places if place.is_dir() for path in place.rglob("*")]
    texts = [path.read_text() for path in files if path.is_file()]
    return "\n".join([*at.texts, *texts])


def unforeseen(error: Exception) -> str:
    """Where an error came from that nobody promised."""
    if isinstance(error, Failure):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "sparkanon" in f.filename or "/fuzz/" in f.filename] or frames
    at = ours[-1]
    return f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno} in {at.name}"
