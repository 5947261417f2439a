"""Tables and policies at random, for a given time; the releases are checked from the outside.

    python tests/fuzz/run.py --seconds 180 [--seed 7]

Every case is made from (seed, number), so a failure is repeated by its printed seed. The checks
use pyarrow and collections only: none of sparkanon's own counting.
"""

from __future__ import annotations

import argparse
import datetime as dt
import decimal
import hashlib
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

SENTINEL = "Zanzibarquux"  # in identifiers: never to be seen again
EXTREME = 918_273_645  # in quasi-identifiers: never in a message or a manifest
QUICK = ("mdav", "refined", "vmdav", "cbfs", "mondrian", "tfrp", "ip")


def kinds(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A column of every type, with ties, extremes and whatever else its type allows."""
    whole = rng.integers(-100, 100, n)
    days = [int(v) for v in whole]
    if rng.random() < 0.3:
        whole[0] = EXTREME
    day = dt.date(2000, 1, 1)
    numbers = rng.normal(size=n) * 10.0 ** rng.integers(-3, 7)
    return {
        "byte": pa.array(np.clip(whole, -128, 127), pa.int8()),
        "short": pa.array(np.clip(whole, -999, 999), pa.int16()),
        "int": pa.array(whole, pa.int32()),
        "long": pa.array(whole * int(10 ** rng.integers(0, 10)), pa.int64()),
        "far": pa.array(8 * 10**18 + whole, pa.int64()),
        "float": pa.array(numbers.astype(np.float32)),
        "double": pa.array(np.where(rng.random(n) < 0.3, 0.0, numbers)),
        "pareto": pa.array(rng.pareto(0.7, n)),
        "constant": pa.array(np.full(n, 7.0)),
        "decimal": pa.array(
            [decimal.Decimal(int(v)).scaleb(-2) for v in whole], pa.decimal128(14, 2)
        ),
        "date": pa.array([day + dt.timedelta(v) for v in days]),
        "stamp": pa.array(
            [dt.datetime(2001, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=v) for v in days]
        ),
        "local": pa.array([dt.datetime(2001, 1, 1) + dt.timedelta(hours=v) for v in days]),
        "flag": pa.array(whole > 0),
        "town": pa.array(rng.choice(["Aarhus", "Évora", "北京", "a,b", "{x}", ""], n)),
    }


NOMINAL = ("town",)


def a_table(rng: np.random.Generator) -> tuple[pa.Table, list[str]]:
    n = int(rng.choice([7, 30, 120, 400]))
    columns = kinds(rng, n)
    chosen = list(rng.choice(sorted(columns), int(rng.integers(1, 6)), replace=False))
    renamed = {name: str(rng.choice([name, f"{name}.dot", f"ü {name}"])) for name in chosen}
    table = {}
    for name in chosen:
        cells = columns[name]
        if rng.random() < 0.3:
            mask = pa.array(rng.random(n) < rng.choice([0.05, 0.6]))
            cells = pa.compute.if_else(mask, pa.scalar(None, cells.type), cells)
        table[renamed[name]] = cells
    made = pa.table(table)
    if rng.random() < 0.3:
        made = made.take(pa.array(rng.integers(0, max(1, n // 3), n)))  # equal rows
    made = made.append_column("person", pa.array([f"{SENTINEL} {i}" for i in range(n)]))
    made = made.append_column("ill", pa.array(rng.integers(0, 4, n), pa.int32()))
    return made, [renamed[name] for name in chosen]


def a_policy(rng: np.random.Generator, quasi: list[str], folder: Path) -> dict[str, Any]:
    nominal = any(part in name for name in quasi for part in NOMINAL)
    space = "gower" if nominal or rng.random() < 0.4 else "euclidean"
    releases: list[Any] = [
        "centroid",
        "generalize",
        "permute",
        {"name": "permute", "redraw": True},
    ]
    releases += [] if nominal else ["hybrid", {"name": "top_bottom", "share": 0.1}]
    release = releases[int(rng.integers(len(releases)))]
    grouping = str(rng.choice(QUICK))
    policy: dict[str, Any] = {
        "columns": {"person": "identifier", "ill": str(rng.choice(["sensitive", "keep"]))}
        | dict.fromkeys(quasi, "quasi_identifier"),
        "k": int(rng.choice([2, 3, 5, 9])),
        "nulls": str(rng.choice(["own_category", "impute", "drop_row", "reject"])),
        "method": {"space": space, "grouping": grouping, "release": release},
        "output": {
            "format": str(rng.choice(["parquet", "csv"])),
            "path": str(folder / "release"),
        },
        "seed": {"env": "FUZZ_SEED"},
        "runs": str(folder / "runs"),
    }
    if rng.random() < 0.15:
        policy["audit"] = {"take": "all"}
    if rng.random() < 0.15 and policy["columns"]["ill"] == "sensitive":
        policy["constraints"] = {"l_diversity": 2}
    if is_coded(policy):
        without = {key: part for key, part in policy.items() if key not in ("k", "constraints")}
        policy = without | {"gates": {"max_uniqueness": 1.0}}
        del policy["method"]["grouping"]
    return policy


def is_coded(policy: dict[str, Any]) -> bool:
    return "top_bottom" in repr(policy["method"]["release"])


class Failure(Exception):
    """A promise that was not kept."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Failure(what)


def published(policy: dict[str, Any]) -> tuple[pa.Table, str]:
    """The rows of a release, and all other text that lies beside it."""
    folder = Path(policy["output"]["path"])
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    texts = "".join(p.read_text() for p in files if p.suffix == ".json")
    if policy["output"]["format"] == "parquet":
        parts = [pq.ParquetFile(p) for p in files if p.suffix == ".parquet"]
        texts += "".join(str(part.metadata.metadata) for part in parts)
        return pa.concat_tables([part.read() for part in parts]), texts
    options = pc.ParseOptions(newlines_in_values=True, escape_char="\\")
    tables = []
    for path in (p for p in files if p.suffix == ".csv"):
        names = pc.read_csv(path, parse_options=options).column_names
        types = dict.fromkeys(names, pa.string())
        chosen = pc.ConvertOptions(column_types=types, strings_can_be_null=True)
        tables.append(pc.read_csv(path, parse_options=options, convert_options=chosen))
    return pa.concat_tables(tables), texts


def rows_of(table: pa.Table, columns: list[str]) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(map(repr, cells(table.column(c))) for c in columns), strict=True))


def cells(column: pa.ChunkedArray) -> list[Any]:
    """Spark writes timestamps of nanoseconds without a zone, whatever it has read."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    found: list[Any] = column.to_pylist()
    return found


def check(spark: Any, rng: np.random.Generator, folder: Path) -> str:
    """One case; returns what became of it."""
    import sparkanon
    from sparkanon.errors import GateError, InputError, PolicyError

    table, quasi = a_table(rng)
    policy = a_policy(rng, quasi, folder)
    pq.write_table(table, folder / "people.parquet")
    data = spark.read.parquet(str(folder / "people.parquet"))
    found = []
    for turn, parts in enumerate((1, int(rng.integers(2, 8)))):
        spark.conf.set("spark.sql.adaptive.enabled", str(bool(turn)).lower())
        try:
            made = sparkanon.anonymize(data.repartition(parts), policy)
        except (PolicyError, InputError, GateError) as refused:
            demand(SENTINEL not in str(refused), "an identifier stands in a message")
            demand(str(EXTREME) not in str(refused), "an extreme value stands in a message")
            demand(len(str(refused)) > 20, "a refusal says too little")
            demand(not (folder / "release").exists(), "a refused release was published")
            found.append(str(refused))
            continue
        rows, told = published(policy)
        told += json.dumps(made.manifest) + "".join(
            path.read_text() for path in (folder / "runs").rglob("*.json")
        )
        demand(SENTINEL not in told, "an identifier stands beside the release")
        demand(str(EXTREME) not in told, "an extreme value stands beside the release")
        demand(os.environ["FUZZ_SEED"] not in told, "the seed stands beside the release")
        demand(set(rows.column_names) == {*quasi, "ill"}, "other columns are published")
        demand(SENTINEL not in repr(rows.to_pydict()), "an identifier is published")
        outside(policy, table, rows, quasi)
        found.append(repr(sorted(rows_of(rows, rows.column_names).items())))
    demand(len(set(found)) == 1, "two runs with other partitions differ")
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    demand(not left, "something was left in staging")
    return "refused" if not (folder / "release").exists() else "published"


def outside(policy: dict[str, Any], table: pa.Table, rows: pa.Table, quasi: list[str]) -> None:
    """k, the number of rows and the values of a permutation, counted here."""
    release, k = policy["method"]["release"], policy.get("k", 1)
    kept = table
    if policy["nulls"] == "drop_row":
        for name in quasi:
            kept = kept.filter(pa.compute.is_valid(kept.column(name)))
    demand(rows.num_rows == kept.num_rows, "rows are missing or new")
    demand(rows.num_rows >= k, "there are fewer rows than k")
    if release in ("centroid", "generalize"):
        demand(min(rows_of(rows, quasi).values()) >= k, "a class is smaller than k")
        return
    exact = policy["output"]["format"] == "parquet" and policy["nulls"] != "impute"
    if is_coded(policy):
        for name in quasi if exact else ():
            few = len(rows_of(rows, [name])) <= len(rows_of(kept, [name]))
            demand(few, "coding made new values")
        return
    for name in quasi if release != "hybrid" and exact else ():
        demand(rows_of(rows, [name]) == rows_of(kept, [name]), "permute changed a marginal")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=180.0)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    given = options.parse_args()
    os.environ["FUZZ_SEED"] = hashlib.sha256(b"fuzz").hexdigest()
    from sparkanon.engine.session.session import get_session

    log = Path(tempfile.mkdtemp(prefix="fuzz-")) / "spark.log"
    conf = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
    spark = get_session(log=log, conf=conf)
    print(f"seed {given.seed}", flush=True)
    seen: Counter[str] = Counter()
    failed, number, end = 0, given.first, time.monotonic() + given.seconds
    while time.monotonic() < end:
        rng = np.random.default_rng([given.seed, number])
        with tempfile.TemporaryDirectory() as name:
            try:
                seen[check(spark, rng, Path(name))] += 1
            except Exception as error:
                failed += 1
                at = traceback.extract_tb(error.__traceback__)[-1]
                what = str(error) if isinstance(error, Failure) else type(error).__name__
                print(f"case --seed {given.seed} --first {number}: {what}")
                print(f"  at {at.filename}:{at.lineno} in {at.name}", flush=True)
        number += 1
    spark.stop()
    print(f"{seen['published']} published, {seen['refused']} refused")
    print(f"{sum(seen.values())} passed, {failed} failed")
    return 1 if failed or not seen["published"] else 0  # refusing everything is no success


if __name__ == "__main__":
    sys.exit(main())
