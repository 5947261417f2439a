"""One process of the fuzz: a Spark session of its own, every n-th case until the time is up."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EARLY = 25.0  # seconds before the end, from which on no large case begins


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--first", type=int, required=True)
    options.add_argument("--step", type=int, required=True)
    options.add_argument("--cases", type=int, required=True, help="0: until the time is up")
    options.add_argument("--end", type=float, required=True, help="in seconds since 1970")
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--keep", action="store_true")
    given = options.parse_args()
    folder: Path = given.folder
    tempfile.tempdir = str(folder / "tmp")
    results = (folder / "results.jsonl").open("a", buffering=1)

    def report(**what: Any) -> None:
        results.write(json.dumps(what) + "\n")

    session = _session(given.seed, folder)
    import cases
    from attempts import unforeseen

    if cases.blind(session):
        report(blind=True)
        return 1
    numbers = _numbers(given)
    for number in numbers:
        late = time.time() > given.end - EARLY and not given.cases
        if late and cases.is_large(given.seed, number):
            continue
        report(number=number, began=time.time())
        place = folder / f"case{number}"
        place.mkdir()
        began = time.monotonic()
        found: dict[str, Any] = {"number": number}
        try:
            story, outcome = cases.run(session, number, place)
            found |= {"story": story, "status": outcome.status, "refusal": outcome.refusal}
            found |= {"reached": outcome.reached}
        except Exception as error:
            found |= {"failure": unforeseen(error)}
            if given.keep:
                import traceback

                traceback.print_exc()
        report(**found, seconds=round(time.monotonic() - began, 2))
        if not given.keep:
            _clear(place)
    session.spark.stop()
    return 0


def _numbers(given: argparse.Namespace) -> Any:
    number, done = given.first, 0
    while (done < given.cases) if given.cases else (time.time() < given.end):
        yield number
        number, done = number + given.step, done + 1


def _clear(place: Path) -> None:
    import shutil

    shutil.rmtree(place, ignore_errors=True)


def _session(seed: int, folder: Path) -> Any:
    """A session with an event log, Spark's log at the level of production, and warm kernels."""
    import cases
    from leaks import Watched
    from policies import SEED, groupings_of

    from sparkanon.engine.session.session import get_session
    from sparkanon.engine.session.warm import warm
    from sparkanon.groupings import GROUPINGS
    from sparkanon.releases.hybrid import Hybrid

    os.environ[SEED] = hashlib.sha256(f"fuzz {seed}".encode()).hexdigest()
    os.environ["FUZZ_WEAK_SEED"] = "a short seed"
    jars = _delta_jars()
    events, log = folder / "events", folder / "spark.log"
    events.mkdir()
    conf = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        # plans as they are: what is cut off could hide a literal
        "spark.sql.debug.maxToStringFields": "10000",
        "spark.sql.maxMetadataStringLength": "100000",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.cleaner.periodicGC.interval": "60min",
    }
    if jars:  # from the cache, and never from the network
        conf |= {
            "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        }
    spark = get_session(log=log, conf=conf)
    spark.sparkContext.setLogLevel("INFO")  # as spark-submit does
    groupings = groupings_of(seed)
    for key in groupings:
        warm(GROUPINGS.build(key), Hybrid())
    watched = [Watched(events), Watched(log), Watched(folder / "output.txt")]
    return cases.Session(spark, seed, groupings, bool(jars), folder / "warehouse", watched)


def _delta_jars() -> list[Path]:
    """Delta's own jars where Ivy keeps them, if an earlier run has fetched them."""
    from importlib.metadata import version

    wanted = ("io.delta_", "io.unitycatalog_", "org.roaringbitmap_")
    for home in (".ivy2.5.2", ".ivy2"):
        folder = Path.home() / home / "jars"
        if any(folder.glob(f"io.delta_delta-spark_*{version('delta-spark')}.jar")):
            return sorted(p for p in folder.glob("*.jar") if p.name.startswith(wanted))
    return []


if __name__ == "__main__":
    sys.exit(main())
