"""Run by test_connect.py in a process of its own: a process is a client of Connect, or it is not.

Prints what a release and an audit on a session of Spark Connect came to, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import sparkanon

SETTINGS = (
    "spark.sql.execution.arrow.maxBytesPerBatch",
    "spark.sql.codegen.aggregate.map.twolevel.enabled",
)


def fingerprint(table: DataFrame) -> str:
    """Of the rows, in whatever order."""
    columns = ", ".join(sorted(table.columns))
    (row,) = table.selectExpr(f"sum(cast(xxhash64({columns}) as decimal(38, 0))) h").collect()
    return str(row["h"])


def state_of(session: SparkSession) -> dict[str, object]:
    """What a session shared with others must keep."""
    return {
        "settings": {name: session.conf.get(name, None) for name in SETTINGS},
        "tables": sorted(table.name for table in session.catalog.listTables()),
    }


def main(folder: Path) -> None:
    session = (
        SparkSession.builder.remote("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    for name, value in zip(SETTINGS, ("1000000", "true"), strict=True):
        session.conf.set(name, value)
    before = state_of(session)
    people = session.read.parquet(str(folder / "people"))
    policies = json.loads((folder / "policies.json").read_text())
    found = {}
    for name, policy in policies.items():
        release = sparkanon.anonymize(people, policy)
        assert release.data is not None
        audit = sparkanon.audit(None, None, policy)
        found[name] = {
            "rows": fingerprint(release.data),
            "blocks": release.manifest["blocks"],
            "steps": list(release.manifest["seconds"]),
            "measures": {m.measure: m.value for m in audit.measures if m.column is None},
        }
    module = type(session).__module__
    print(json.dumps({"found": found, "kept": state_of(session) == before, "session": module}))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
