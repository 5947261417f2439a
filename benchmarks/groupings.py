"""Every grouping: seconds, loss and sizes of groups at 2,000 and 20,000 records and at a million.

    python benchmarks/groupings.py [--folder DIR] [--rows 1000000] [--only mdav,vmdav]

The first two are the kernel alone on one core (CPU time, the least of up to three), the last one
is the whole job on Spark, for the groupings that serve blocks of 20,000. Prints the table of
docs/choosing.md and keeps the figures as JSON in benchmarks/results/. `make bench` runs it, too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from kernels import loss
from run import HERE, coordinates, make_table, policy

from sparkanon.engine.pipeline import anonymize
from sparkanon.engine.session.session import get_session
from sparkanon.engine.session.warm import warm
from sparkanon.groupings import GROUPINGS, Grouping
from sparkanon.numeric.points import Points
from sparkanon.releases.centroid import Centroid

K = 5
SIZES = (2_000, 20_000)
SCALES = 20_000  # a grouping that serves such blocks is run on the whole table
SCALE_WELL = ("vmdav", "cbfs", "tfrp", "mdav_mhm")
LONG = 3.0  # seconds of a kernel: not repeated
LONG_JOB = 60.0  # of a job
MORE = {  # besides every grouping as it is by default
    "refined, start: ip": {"name": "refined", "start": "ip"},
    "refined, effort: high": {"name": "refined", "effort": "high"},
}


def kernel(grouping: Grouping, values: np.ndarray) -> dict[str, Any]:
    """Blocks of the size that the grouping asks for, one after the other."""
    rows = min(grouping.block_rows, values.shape[1])
    pieces = np.array_split(np.argsort(values[0], kind="stable"), -(-values.shape[1] // rows))
    seconds, labels = [], np.empty(values.shape[1], np.int64)
    for _ in range(3):
        start, first = time.process_time(), 0
        for piece in pieces:
            points = Points.euclidean(values[:, piece])
            labels[piece] = grouping.group(points, K, np.random.default_rng(0)) + first
            first = int(labels[piece].max()) + 1
        seconds.append(time.process_time() - start)
        if seconds[-1] > LONG:
            break
    sizes = np.bincount(labels)
    return {
        "seconds": min(seconds),
        "il": loss(values, labels),
        "mean_size": float(sizes.mean()),
        "largest": int(sizes.max()),
    }


def job(spark: Any, grouping: Any, source: Path, folder: Path) -> dict[str, Any]:
    """The best of three runs, of one if it is long."""
    seconds, release = [], None
    for _ in range(3):
        start = time.perf_counter()
        release = anonymize(None, policy(source, folder / "rel", grouping=grouping), spark=spark)
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > LONG_JOB:
            break
    assert release is not None
    il = next(m.value for m in release.measures if m.measure == "il")
    return {"seconds": min(seconds), "il": il}


def measure(spark: Any, folder: Path, rows: int, only: str = "") -> dict[str, dict[str, Any]]:
    """Of every grouping, or of those named in `only`: kernels of SIZES records, and the job."""
    values = {n: coordinates(make_table(spark, n, folder)) for n in SIZES}
    source = make_table(spark, rows, folder)
    wanted: dict[str, Any] = {item.key: item.key for item in GROUPINGS} | MORE
    found: dict[str, dict[str, Any]] = {}
    for label, config in wanted.items():
        if only and label not in only.split(","):
            continue
        grouping = GROUPINGS.build(config)
        warm(grouping, Centroid())
        own = {str(n): kernel(grouping, values[n]) for n in SIZES}
        if grouping.block_rows >= SCALES:
            own["job"] = job(spark, config, source, folder)
        found[label] = own
        print(label, json.dumps(own), file=sys.stderr, flush=True)
    return found


def slowest(found: dict[str, dict[str, Any]]) -> tuple[str, str, str]:
    """How long the methods of a block of 65,536 take at most, beside MDAV."""
    times = {key: found[key]["job"]["seconds"] for key in ("mdav", *SCALE_WELL)}
    worst = max(SCALE_WELL, key=lambda key: times[key])
    shown = f"{times[worst] / times['mdav']:.2f} ({worst} {times[worst]:.1f} s)"
    return f"1,000,000 rows: slowest of {', '.join(SCALE_WELL)} / mdav", "<= 3", shown


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", default=tempfile.gettempdir() + "/sparkanon-groupings")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--only", default="", help="keys, separated by commas")
    chosen = options.parse_args()
    folder = Path(chosen.folder)
    folder.mkdir(parents=True, exist_ok=True)
    spark = get_session(log=folder / "spark.log", conf={"spark.master": "local[2]"})
    found = measure(spark, folder, chosen.rows, chosen.only)
    spark.stop()
    report(found, chosen.rows)


def report(found: dict[str, dict[str, Any]], rows: int) -> None:
    base = found.get("mdav", {}).get("job", {}).get("seconds")
    print(f"\n| grouping | IL 2k | s | IL 20k | s | size, largest | IL {rows:,} | s | / mdav |")
    print("|---|---|---|---|---|---|---|---|---|")
    for key, own in found.items():
        cells = []
        for n in map(str, SIZES):
            cells += [f"{own[n]['il']:.2f}", f"{own[n]['seconds']:.3g}"]
        last = own[str(SIZES[-1])]
        cells.append(f"{last['mean_size']:.1f}, {last['largest']}")
        whole = own.get("job")
        if whole is not None:
            ratio = f"{whole['seconds'] / base:.1f}" if base else ""
            cells += [f"{whole['il']:.2f}", f"{whole['seconds']:.0f}", ratio]
        else:
            cells += ["", "", ""]
        print(f"| `{key}` | " + " | ".join(cells) + " |")
    path = HERE / "results" / f"{datetime.now(UTC):%Y-%m-%d}-groupings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
