"""How fast and how good the grouping kernels are: `python benchmarks/kernels.py [--full]`.

One thread, process CPU time, the least of several repeats. Exact MDAV over a whole table, which
refined is compared with, takes minutes at a million records: `--full`, and kept in a cache file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sparkanon.engine.session.warm import warm_all
from sparkanon.groupings import Grouping, Mdav, Refined
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats

K = 5
SDCMICRO_SECONDS = 69.0  # sdcMicro's C++ MDAV, 100k x 8, k = 5, one core of such a machine
CACHE = Path(tempfile.gettempdir()) / "sparkanon-exact-mdav.json"


def mixed(n: int, seed: int = 1) -> Floats:
    """Correlated normal, two lognormal and one uniform column, z-scored: (8, n)."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    skewed, flat = np.exp(rng.normal(size=(n, 2)) * 0.8), rng.uniform(size=(n, 1))
    noisy = normal[:, :1] + rng.normal(size=(n, 1)) * 0.5
    table = np.column_stack([normal, skewed, flat, noisy])
    return np.ascontiguousarray(((table - table.mean(axis=0)) / table.std(axis=0)).T)


def normal(n: int, seed: int = 1) -> Floats:
    """Eight independent normal columns: the hardest case for any index."""
    return np.ascontiguousarray(np.random.default_rng(seed).normal(size=(n, 8)).T)


DATA: dict[str, Callable[[int], Floats]] = {"mixed": mixed, "normal": normal}


def loss(values: Floats, labels: np.ndarray) -> float:
    """100 * SSE / SST."""
    sizes = np.bincount(labels)
    means = np.array([np.bincount(labels, row) / sizes for row in values])
    total = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum()
    return float(100 * ((values - means[:, labels]) ** 2).sum() / total)


def cut(values: Floats, blocks: int) -> list[np.ndarray]:
    """Row numbers of `blocks` blocks (a power of two) by median cuts of the widest column."""
    parts = [np.arange(values.shape[1])]
    while len(parts) < blocks:
        halves = []
        for rows in parts:
            widest = int(np.argmax(values[:, rows].var(axis=1)))
            order = rows[np.argsort(values[widest, rows], kind="stable")]
            halves += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
        parts = halves
    return parts


def run(
    grouping: Grouping, values: Floats, blocks: int = 1, repeats: int = 3
) -> tuple[np.ndarray, float]:
    """Labels over all blocks, and core-seconds: the sum of the least of every block."""
    labels, seconds, first = np.empty(values.shape[1], np.int64), 0.0, 0
    for rows in cut(values, blocks):
        points, times = Points.euclidean(values[:, rows]), []
        for _ in range(repeats):
            begin = time.process_time()
            found = grouping.group(points, K, np.random.default_rng(0))
            times.append(time.process_time() - begin)
        labels[rows] = found + first
        first += int(found.max()) + 1
        seconds += min(times)
    return labels, seconds


def exact_loss(name: str, n: int) -> float:
    """Loss of exact MDAV over the whole table, from the cache file if it is there."""
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    key = f"{name} {n} {K}"
    if key not in known:
        values = DATA[name](n)
        known[key] = loss(values, run(Mdav(), values, repeats=1)[0])
        CACHE.write_text(json.dumps(known))
    return float(known[key])


def measure(full: bool = False) -> list[dict[str, Any]]:
    """One row a measurement: grouping, data, records, blocks, core-seconds, loss, ratio."""
    rows: list[dict[str, Any]] = []
    cases: list[tuple[Grouping, int, int]] = [(Mdav(), 100_000, 1), (Refined(), 200_000, 2)]
    if full:
        cases.append((Refined(), 1_000_000, 8))
    for name, make in DATA.items():
        for grouping, n, blocks in cases:
            values = make(n)
            labels, seconds = run(grouping, values, blocks)
            found = loss(values, labels)
            ratio = found / (found if grouping.key == "mdav" else exact_loss(name, n))
            rows.append(
                {
                    "grouping": grouping.key,
                    "data": name,
                    "records": n,
                    "blocks": blocks,
                    "core_seconds": seconds,
                    "loss": found,
                    "ratio": ratio,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="a million records too (minutes)")
    options = parser.parse_args()
    warm_all()
    print(f"d = 8, k = {K}; ratio: loss / loss of exact MDAV over all records")
    print(f"sdcMicro, mdav, 100000 records: {SDCMICRO_SECONDS:.0f} s")
    print("grouping  data       records  blocks  core-seconds     loss   ratio")
    for row in measure(options.full):
        print(
            "{grouping:9} {data:8} {records:9d} {blocks:7d} {core_seconds:13.2f}"
            " {loss:8.4f} {ratio:7.4f}".format(**row)
        )


if __name__ == "__main__":
    main()
