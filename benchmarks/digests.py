"""Digests of the releases of every method on one table: run before and after a change.

    python benchmarks/digests.py people.parquet > before.json
    python benchmarks/digests.py people.parquet --against before.json

The table is one of `sparkanon sample-data`. Equal digests mean equal multisets of released rows. A
change that moves one on purpose says so in the changelog.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
SEED = hashlib.sha256(b"digests").hexdigest()
NUMBERS = ("age", "years_of_schooling", "household_size", "income", "rent", "height_cm")
WORDS = ("sex", "region")
SLOW = ("md", "md_mhm", "ga", "mdav_ga")  # some minutes on a few thousand records


def policies(groupings: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every grouping, and every space, release and null policy with the default one."""

    def policy(names: tuple[str, ...], **changes: Any) -> dict[str, Any]:
        roles = {"person_id": "identifier", "diagnosis": "sensitive"}
        quasi = dict.fromkeys(names, "quasi_identifier")
        return {
            "columns": roles | quasi,
            "unlisted": "drop",
            "k": 5,
            "seed": {"env": "DIGEST_SEED"},
        } | changes

    for name in groupings:
        if name not in SLOW:
            yield f"grouping {name}", policy(NUMBERS, method={"grouping": name})
    lda = {"name": "lda", "target": "diagnosis", "alpha": 4.0}
    yield "space lda", policy(NUMBERS, method={"space": lda})
    yield "space gower", policy(NUMBERS + WORDS, method={"space": "gower"})
    for name in ("permute", "generalize"):
        both = {"space": "gower", "release": name, "grouping": "mdav"}
        yield f"release {name}", policy(NUMBERS + WORDS, method=both)
    redrawn = {"release": {"name": "permute", "redraw": True}}
    yield "release permute, redrawn", policy(NUMBERS, method=redrawn)
    yield "release hybrid", policy(NUMBERS, method={"release": "hybrid"})
    for nulls in ("impute", "drop_row"):
        yield f"nulls {nulls}", policy((*NUMBERS, "commute_km"), nulls=nulls)
    for name, value in (("l_diversity", 2), ("t_closeness", 0.4)):
        yield f"constraint {name}", policy(NUMBERS, constraints={name: value})
    yield (
        "effort high",
        policy(NUMBERS, method={"grouping": {"name": "refined", "effort": "high"}}),
    )


def digest(rows: Any) -> str:
    """Of a multiset of rows."""
    total = hashlib.sha256()
    for row in sorted(repr(tuple(row)) for row in rows):
        total.update(row.encode() + b"\n")
    return total.hexdigest()[:16]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("table", type=Path)
    options.add_argument("--against", type=Path)
    given = options.parse_args()
    os.environ["DIGEST_SEED"] = SEED
    from pyspark.sql import SparkSession

    import sparkanon
    from sparkanon.groupings import GROUPINGS

    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    table = spark.read.parquet(str(given.table))
    found = {}
    for name, policy in policies(list(GROUPINGS.keys())):
        release = sparkanon.anonymize(table, policy)
        found[name] = digest(release.data.collect() if release.data is not None else ())
        print(name, found[name], file=sys.stderr, flush=True)
    spark.stop()
    print(json.dumps(found, indent=1))
    if given.against is None:
        return 0
    before = json.loads(given.against.read_text())
    moved = [name for name, one in found.items() if before.get(name) != one]
    print(f"{len(found) - len(moved)} equal, {len(moved)} not: {moved}", file=sys.stderr)
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
