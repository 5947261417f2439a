"""The attacker reads Spark's event log and plans: no cell, and nothing made from one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from seeds import seed_file

import sparkanon
from sparkanon.groupings import Mdav

# far outside of what Spark prints by itself: sizes, times, hashes
NUMBERS = {"debt": -731_947_253.5, "big": 8_400_000_000_073_193_411, "pay": 918_273_645.125}
LAST = "the last query"
WORDS = ("Zanzibarquux", "Timbuktuquux")


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
    yield
    context.listenerBus().waitUntilEmpty()
    context.removeSparkListener(listener)
    listener.stop()


@pytest.fixture(scope="module")
def events(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[float]]:
    """What Spark keeps of runs with several spaces and releases, and what must not be there."""
    folder = tmp_path_factory.mktemp("events")
    (folder / "events").mkdir()
    rng = np.random.default_rng(5)
    rows = 400
    debt = np.where(np.arange(rows) % 2 == 0, np.nan, NUMBERS["debt"])  # null or one value
    pay = rng.normal(NUMBERS["pay"], 1e6, rows).round(3)
    frame = pd.DataFrame(
        {
            "debt": debt,
            "pay": pay,
            "big": NUMBERS["big"] + rng.integers(0, 10**6, rows),
            "day": pd.Timestamp("2031-07-04") + pd.to_timedelta(rng.integers(0, 500, rows), "D"),
            "town": np.where(np.arange(rows) % 3 == 0, None, rng.choice(WORDS, rows)),
            "label": rng.integers(0, 2, rows),
        }
    )
    frame.to_parquet(folder / "people", coerce_timestamps="us")
    numbers = dict.fromkeys(("debt", "pay", "big", "day"), "quasi_identifier")
    base: dict[str, Any] = {
        "columns": numbers | {"town": "quasi_identifier", "label": "sensitive"},
        "k": 4,
        "seed": {"file": seed_file(folder)},
        "audit": {"take": "all"},
    }
    mdav = {"space": {"name": "gower", "weights": {"town": 9, "debt": 9}}, "grouping": "mdav"}
    lda = {"space": {"name": "lda", "target": "label", "alpha": 4}, "grouping": "mdav"}
    policies = {
        "gower": base | {"method": mdav},
        "impute": base | {"method": mdav, "nulls": "impute"},
        "lda": base | {"method": lda, "columns": numbers | {"label": "target", "town": "keep"}},
        "generalize": base | {"method": mdav | {"release": "generalize"}, "audit": {}},
    }
    table = spark.read.parquet(str(folder / "people"))
    with pytest.MonkeyPatch.context() as patch, event_log(spark, folder / "events"):
        patch.setattr(Mdav, "block_rows", 60)  # several blocks
        for policy in policies.values():
            sparkanon.anonymize(table, policy)
        spark.range(1).selectExpr(f"'{LAST}'").collect()
    files = [path for path in (folder / "events").rglob("*") if path.is_file()]
    # beside each file Hadoop keeps a checksum of it, which is no text
    text = "".join(path.read_text() for path in files if path.suffix != ".crc")
    assert "physicalPlanDescription" in text
    assert "xxhash64" in text
    assert LAST in text, "a literal in a plan would not be found"
    low, high = float(np.nanmin(pay)), float(np.nanmax(pay))
    values = [*NUMBERS.values(), low, high, float(frame["big"].min()), int(frame["big"].max())]
    values += [float(pay.mean()), float(pay.std()), *map(float, _middles(pay))]
    values += [int(frame["day"].min().value // 1000), int(frame["day"].max().value // 1000)]
    return text, values


def _middles(values: np.ndarray) -> list[float]:
    """Every point halfway between two neighbours: where a cut could lie."""
    return [low / 2 + high / 2 for low, high in pairwise(np.unique(values))]


def written(value: float) -> set[str]:
    """The forms in which a number may be printed."""
    forms = {repr(value), str(value), f"{value:.10g}", f"{value:.6E}", f"{value:e}"}
    if float(value).is_integer():
        forms.add(str(int(value)))
    return {form.removesuffix(".0") for form in forms if len(form) > 6}


def test_no_number_made_from_a_cell_is_shown(events: tuple[str, list[float]]) -> None:
    text, values = events
    # quicker, and the same: a number that stands in the text stands in one of these
    text = "\n".join(set(re.findall(r"[0-9.eE+-]{5,}", text)))
    for value in values:
        for made in (value, -value, 2 * value, 2 * value - 1, 2 * value + 1, value / 2):
            for form in written(made):
                assert form not in text, "a number made from a cell stands in the event log"


def test_no_category_is_shown(events: tuple[str, list[float]]) -> None:
    text, _ = events
    for word in WORDS:
        assert word not in text
        assert word.encode().hex() not in text.lower()
