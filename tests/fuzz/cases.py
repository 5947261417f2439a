"""One case from (seed, number): a table, a policy, a story, and a search of all that was said."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as pc
import pyarrow.parquet as pq
from attempts import Outcome, Setting, said
from leaks import Secrets, Watched, demand
from policies import SEED, Plan, a_plan
from pyspark.sql import SparkSession
from random_tables import KINDS, Rng, Table, a_table
from stories import STORIES, once

# that a CSV file holds as they are
IN_CSV = {
    "short": "SMALLINT",
    "int": "INT",
    "long": "BIGINT",
    "far": "BIGINT",
    "double": "DOUBLE",
    "pareto": "DOUBLE",
    "constant": "DOUBLE",
    "decimal": "DECIMAL(14,2)",
    "date": "DATE",
    "flag": "BOOLEAN",
    "village": "STRING",
    "level": "STRING",
    "grade": "INT",
}
LARGE = 0.04  # share of the cases with thousands of rows
_OTHERS = {"person": "STRING", "tag": "BIGINT", "spare": "BIGINT", "w": "DOUBLE"}


@dataclass(frozen=True)
class Session:
    """What a worker keeps through all of its cases."""

    spark: SparkSession
    seed: int
    groupings: tuple[str, ...]
    delta: bool
    warehouse: Path
    watched: Sequence[Watched]

    def news(self) -> str:
        """What Spark and Python have written since the last case."""
        self.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        return "\n".join(one.news() for one in self.watched)


def generator(seed: int, number: int) -> Rng:
    return np.random.default_rng([seed, number])


def is_large(seed: int, number: int) -> bool:
    """Whether a case takes long: asked before it begins."""
    return bool(generator(seed, number).random() < LARGE)


def run(session: Session, number: int, folder: Path) -> tuple[str, Outcome]:
    """The name of the story and what became of it."""
    rng = generator(session.seed, number)
    large = bool(rng.random() < LARGE)
    secrets = Secrets(os.environ[SEED])
    table = a_table(rng, secrets, rows=int(rng.integers(3000, 6000)) if large else None)
    plan = a_plan(rng, table, folder, session.groupings, session.delta)
    pq.write_table(table.rows, folder / "people.parquet")
    if rng.random() < 0.25:
        _from_csv(rng, table, plan, folder)
    at = Setting(session.spark, folder, table, session.warehouse)
    rows = table.rows.num_rows
    if large or (rows >= 100 and rng.random() < 0.35):
        at.block_rows = max(24, rows // int(rng.integers(3, 12)))
        at.crosses = bool(rng.random() < 0.5)
    names = list(STORIES)
    story = names[int(rng.choice(len(names), p=list(STORIES.values())))]
    try:
        outcome = (once if large else story)(rng, at, plan)
    finally:
        if plan.format == "table":
            session.spark.sql(f"DROP TABLE IF EXISTS {plan.policy['output']['name']}")
        news = session.news()
    for where, text in (("what was said", said(at)), ("logs, events or plans", news)):
        found = secrets.in_text(text)
        demand(found is None, f"{found} stands in {where}")
    return story.__name__, outcome


def _with_spark_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Arrow writes nan, which is no number to Spark."""
    if not pa.types.is_floating(column.type):
        return column
    return compute.if_else(compute.is_nan(column), "NaN", column.cast(pa.string()))


def _from_csv(rng: Rng, table: Table, plan: Plan, folder: Path) -> None:
    """The same table as a CSV file, if it can hold it; now and then with a line that is wrong."""
    if {q.kind for q in table.quasi} - set(IN_CSV) or {"list", "pack", "blob"} & set(table.roles):
        return
    if any(KINDS[q.kind].sql for q in table.quasi) or "weight" in table.flaws:
        return
    rows = table.rows
    types = {q.name: IN_CSV[q.kind] for q in table.quasi} | _OTHERS
    types["ill"] = "INT" if pa.types.is_integer(rows.schema.field("ill").type) else "STRING"
    path = folder / "people.csv"
    written = {n: _with_spark_nan(rows.column(n)) for n in rows.column_names}
    pc.write_csv(pa.table(written), path)
    if rng.random() < 0.15:  # a line with a name and a category where a number should be
        broken = ",".join(sorted(table.secrets.names | table.secrets.words))
        with path.open("a") as file:
            file.write(",".join([broken] * (rows.num_columns + 2)) + "\n")
        plan.must.add("broken line")
    quoted = ", ".join(f"`{n.replace('`', '``')}` {types[n]}" for n in rows.column_names)
    plan.policy["input"] = {"format": "csv", "path": str(path), "types": quoted}


def blind(session: Session) -> bool:
    """Whether the search would miss a cell in a plan: a literal is put there, and looked for."""
    word = "Kontrollquux" + hashlib.sha256(str(session.seed).encode()).hexdigest()[:8]
    number = 7_391_845_000_000_000 + session.seed % 10**6
    session.spark.range(1).selectExpr(f"'{word}'", f"{number} + id").collect()
    news = session.news()
    secrets = Secrets("no seed", names={word})
    only_number = Secrets("no seed")
    only_number.add_number("control", number)
    return secrets.in_text(news) is None or only_number.in_text(news) is None
