"""The attacker reads Spark's event log and plans: no cell, and nothing made from one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from leaks import Secrets
from pyspark.sql import DataFrame, SparkSession
from seeds import seed_file

import sparkanon
from sparkanon import GateError, InputError
from sparkanon.engine.sweep.sweep import sweep
from sparkanon.engine.table.profile import profile
from sparkanon.groupings import Mdav
from sparkanon.policy import make_policy
from sparkanon.policy.grid import make_cells

ROWS = 400
NAME = "Quaggasonquux"
WORDS = ("Zanzibarquux", "Timbuktuquux")
ILLNESSES = ("Morbusquux", "Febrisquux", "Dolorquux")
QUASI = "quasi_identifier"
NUMBERS = dict.fromkeys(("debt", "pay", "big", "day"), QUASI)
COLUMNS: dict[str, Any] = NUMBERS | {"town": QUASI, "ill": "sensitive"}
MDAV = {"space": {"name": "gower", "weights": {"town": 9, "debt": 9}}, "grouping": "mdav"}
EUCLIDEAN = {"space": "euclidean", "grouping": "mdav"}
LDA = {"space": {"name": "lda", "target": "ill", "alpha": 4}, "grouping": "mdav"}
# Plans are cut off and hide what stands behind, unless one asks for all of them.
WHOLE = {
    "spark.sql.debug.maxToStringFields": "10000",
    "spark.sql.maxMetadataStringLength": "100000",
}


@contextmanager
def event_log(spark: SparkSession, folder: Path) -> Iterator[None]:
    """While this lasts, Spark writes its event log, as `spark.eventLog.enabled` does for good."""
    jvm, context = spark._jvm, spark.sparkContext._jsc.sc()
    conf = context.conf().clone().set("spark.eventLog.compress", "false")
    listener = jvm.org.apache.spark.scheduler.EventLoggingListener(
        "app", jvm.scala.Option.empty(), jvm.java.net.URI(folder.as_uri()), conf
    )
    listener.start()
    context.addSparkListener(listener)
    before = {name: spark.conf.get(name, None) for name in WHOLE}
    for name, value in WHOLE.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)
    context.listenerBus().waitUntilEmpty()
    context.removeSparkListener(listener)
    listener.stop()


@dataclass(frozen=True)
class People:
    """A table full of values that stand nowhere else, and what must not be seen of it."""

    spark: SparkSession
    table: DataFrame
    folder: Path
    secrets: Secrets

    def policy(self, folder: Path, **changes: Any) -> dict[str, Any]:
        return {
            "columns": COLUMNS,
            "unlisted": "drop",
            "k": 4,
            "method": MDAV,
            "seed": {"file": seed_file(folder)},
            "audit": {"take": ["min_class_size", "il"]},
            "runs": str(folder / "runs"),
        } | changes


@pytest.fixture(scope="module")
def people(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> People:
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(5)
    even = np.arange(ROWS) % 2 == 0
    frame = pd.DataFrame(
        {
            "name": [f"{NAME} {i}" for i in range(ROWS)],
            "debt": np.where(even, np.nan, -731_947_253.5),  # null or one value
            "pay": rng.normal(918_273_645.125, 1e6, ROWS).round(3),
            "big": 8_400_000_000_073_193_411 + rng.integers(0, 10**6, ROWS),
            "day": pd.Timestamp("2031-07-04") + pd.to_timedelta(rng.integers(0, 500, ROWS), "D"),
            "town": np.where(np.arange(ROWS) % 3 == 0, None, rng.choice(WORDS, ROWS)),
            "money": [Decimal(int(v)).scaleb(-2) for v in 731_940_000_777 + np.arange(ROWS) % 9],
            "rank": 5_310_777_000.5 + rng.integers(0, 9, ROWS),
            "ill": rng.choice(ILLNESSES, ROWS),
            "wealth": 4_206_931_000.25 + rng.integers(0, 5, ROWS),
            "weight": 73_194_725.0625 + rng.random(ROWS).round(3),
        }
    )
    frame.to_parquet(folder / "people", coerce_timestamps="us")
    frame.drop(columns="money").to_csv(folder / "people.csv", index=False)
    secrets = Secrets("no seed at all", names={NAME}, words={*WORDS, *ILLNESSES})
    for name in frame.select_dtypes("number").columns:
        values = frame[name].dropna().to_numpy()
        made = [*np.unique(values), *_middles(values), values.mean(), values.std()]
        for value in (v.item() for v in made):
            secrets.add_number(name, value)
    for value in frame["money"].unique():
        secrets.add_number("money", value)
    days = frame["day"].to_numpy().astype("datetime64[us]").astype(np.int64)
    for value in {*days.tolist(), *map(float, _middles(days))}:
        secrets.add_number("day", value)
    return People(spark, spark.read.parquet(str(folder / "people")), folder, secrets)


def _middles(values: np.ndarray) -> list[Any]:
    """Every point halfway between two neighbours: where a cut could lie."""
    return [low / 2 + high / 2 for low, high in pairwise(np.unique(values))]


Run = Callable[[People, Path], None]


def publishes(**changes: Any) -> Run:
    """A run of `anonymize` by this policy."""

    def run(people: People, folder: Path) -> None:
        policy = people.policy(folder, **changes)
        if "output" in changes:
            policy["output"] = changes["output"] | {
                "path": str(folder / changes["output"]["path"])
            }
        sparkanon.anonymize(people.table, policy, spark=people.spark)

    return run


def refused(people: People, folder: Path) -> None:
    """Nulls that are counted, and a table that stays as it is."""
    policy = people.policy(folder, nulls="reject")
    with pytest.raises(InputError):
        sparkanon.anonymize(people.table, policy, spark=people.spark)


def from_csv(people: People, folder: Path) -> None:
    """Types are inferred, and every line is parsed."""
    policy = people.policy(
        folder,
        input={"format": "csv", "path": str(people.folder / "people.csv")},
        output={"format": "csv", "path": str(folder / "release")},
        nulls="impute",
    )
    sparkanon.anonymize(None, policy, spark=people.spark)


def from_broken_csv(people: People, folder: Path) -> None:
    """Lines whose cells are of other types."""
    lines = (people.folder / "people.csv").read_text().splitlines()
    broken = [*lines[:3], lines[5].replace(",", ",,", 1), *lines[6:9]]
    (folder / "broken.csv").write_text("\n".join(broken) + "\n")
    source = {"format": "csv", "path": str(folder / "broken.csv")}
    types = ", ".join(f"{name} DOUBLE" for name in lines[0].split(","))
    policy = people.policy(folder, input=source | {"types": types})
    with pytest.raises(InputError):
        sparkanon.anonymize(None, policy, spark=people.spark)


def profiled(people: People, folder: Path) -> None:
    """What `sparkanon profile` counts."""
    profile(people.table)


def audited_own(kind: str) -> Run:
    """All measures of a release of ours, with its pairing."""

    def run(people: People, folder: Path) -> None:
        people.table.write.parquet(str(folder / "in"))
        policy = people.policy(
            folder,
            input={"format": "parquet", "path": str(folder / "in")},
            output={"format": "parquet", "path": str(folder / "release")},
            private={"path": str(folder / "private")},
            method=MDAV | {"release": kind},
            audit={"take": "all"},
        )
        sparkanon.anonymize(None, policy, spark=people.spark)
        sparkanon.audit(None, None, policy, spark=people.spark)

    return run


def audited_foreign(people: People, folder: Path) -> None:
    """All measures of a release that some other tool made, with a key and without."""
    rounded = people.table.selectExpr(
        "name", "round(pay, -6) as pay", "big", "day", "town", "ill", "wealth"
    )
    policy = people.policy(folder, audit={"take": "all"})
    for key, released in ((None, rounded.drop("name")), ("name", rounded)):
        with pytest.raises(GateError):
            sparkanon.audit(people.table, released, policy, key=key, spark=people.spark)


def swept(people: People, folder: Path) -> None:
    """A map of two groupings and two releases."""
    policy = make_policy(people.policy(folder))
    grid = {"method.release": ["centroid", "permute"], "k": [4, 6]}
    sweep(people.table, policy, make_cells(policy, grid), folder / "sweep", spark=people.spark)


ORDINAL = {"role": QUASI, "type": "ordinal"}
CLOSE = {
    "l_diversity": {"l": 2, "columns": ["ill"]},
    "t_closeness": {"t": 0.5, "columns": ["wealth"]},
}
SENSITIVE = COLUMNS | {"wealth": "sensitive"}
RUNS: dict[str, Run] = {
    "gower": publishes(),
    "lda": publishes(method=LDA, columns=NUMBERS | {"ill": "target"}, nulls="impute"),
    "generalize": publishes(method=MDAV | {"release": "generalize"}),
    "permute": publishes(method=MDAV | {"release": "permute"}),
    "hybrid": publishes(method=EUCLIDEAN | {"release": "hybrid"}, columns=NUMBERS),
    "top and bottom": publishes(
        method={"release": {"name": "top_bottom", "share": 0.1}},
        columns={name: QUASI for name in NUMBERS if name != "debt"} | {"ill": "sensitive"},
        k=None,
        gates={"max_linkage_masked_to_original": 1.0},
        output={"format": "parquet", "path": "out", "partition_by": ["ill"]},
    ),
    "weight and constraints": publishes(
        columns=SENSITIVE | {"weight": "weight"}, constraints=CLOSE, nulls="impute"
    ),
    "decimal, ordinal, drop_row": publishes(
        columns=COLUMNS | {"money": QUASI, "rank": ORDINAL}, nulls="drop_row"
    ),
    "reject": refused,
    "csv": from_csv,
    "broken csv": from_broken_csv,
    "profile": profiled,
}
LONG: dict[str, Run] = {
    "all measures": publishes(columns=SENSITIVE, audit={"take": "all"}),
    "own release": audited_own("centroid"),
    "own release, generalized": audited_own("generalize"),
    "own release, permuted": audited_own("permute"),
    "foreign release": audited_foreign,
    "sweep": swept,
}


@pytest.mark.parametrize(
    "run",
    [
        *(pytest.param(run, id=name) for name, run in RUNS.items()),
        *(pytest.param(run, id=name, marks=pytest.mark.slow) for name, run in LONG.items()),
    ],
)
def test_no_cell_is_shown(
    people: People, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mdav, "block_rows", 60)  # several blocks
    (tmp_path / "events").mkdir()
    with event_log(people.spark, tmp_path / "events"):
        run(people, tmp_path)
        people.spark.range(1).selectExpr(f"id + {CONTROL}", f"'{NAME_OF_CONTROL}'").collect()
    files = [path for path in (tmp_path / "events").rglob("*") if path.is_file()]
    # beside each file Hadoop keeps a checksum of it, which is no text
    text = "".join(path.read_text() for path in files if path.suffix != ".crc")
    assert "physicalPlanDescription" in text
    assert controls_in(text) == 2, "a literal in a plan would not be found"
    assert people.secrets.in_text(text) is None


CONTROL, NAME_OF_CONTROL = 6_120_394_857, "Controlquux"


def controls_in(text: str) -> int:
    """How many of the two literals that the test put into a plan the search finds."""
    named = Secrets("no seed at all", names={NAME_OF_CONTROL})
    numbered = Secrets("no seed at all")
    numbered.add_number("control", CONTROL / 2)  # its double stands in the plan
    return (named.in_text(text) is not None) + (numbered.in_text(text) is not None)
