"""Tables and policies at random, for a given time; releases are checked from the outside.

    python tests/fuzz/run.py --seconds 180 [--seed 7] [--first 3 --cases 1 --keep]

Every case is made from (seed, number), and one that fails prints the command that repeats it. The
run fails, too, if it did too little to mean anything: too few cases, or most of them refused.

random_tables   columns of every type
policies        what is asked, and what must be refused
stories         what is done with both
attempts        one call, and what is true after it
checks, values, pairings   the release from the outside
../leaks        what must not be seen, and the search for it
worker          one process with its Spark session
cases           from numbers to stories
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
START = 45.0  # seconds until the first case at the latest, on a machine with nothing else to do
LEAST = 6.0  # cases a minute
GRACE = 15.0  # seconds that a case may go on after the end
HANGS = 90.0  # seconds after which a case that is not done hangs
SHOWN = 12  # kinds of refusals
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


@dataclass
class Tally:
    """What the cases came to."""

    statuses: Counter[str] = field(default_factory=Counter)
    stories: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    open: dict[int, float] = field(default_factory=dict)  # begun and not done
    blind: bool = False

    def take(self, line: dict[str, Any]) -> None:
        if line.get("blind"):
            self.blind = True
        elif "began" in line:
            self.open[line["number"]] = line["began"]
        else:
            self.open.pop(line["number"], None)
            if "failure" in line:
                self.failures[line["number"]] = line["failure"]
                return
            self.statuses[line["status"]] += 1
            self.stories[line["story"]] += 1
            self.reached.update(line["reached"])
            if line["refusal"]:
                self.refusals[line["refusal"]] += 1

    @property
    def cases(self) -> int:
        return sum(self.statuses.values()) + len(self.failures)


@dataclass
class Worker:
    """A process of cases, and the results that it writes."""

    process: subprocess.Popen[bytes]
    folder: Path
    read: int = 0

    def results(self) -> list[dict[str, Any]]:
        path = self.folder / "results.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        new, self.read = lines[self.read :], len(lines)
        return [json.loads(line) for line in new]

    def stop(self) -> None:
        """This process and the JVM that it started, which has its process group."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, how)
                self.process.wait(timeout=3)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


def start(given: argparse.Namespace, i: int, folder: Path, end: float) -> Worker:
    (folder / "tmp").mkdir(parents=True)
    command = [sys.executable, str(HERE / "worker.py"), "--seed", str(given.seed)]
    command += ["--first", str(given.first + i), "--step", str(given.workers)]
    command += ["--cases", str(given.cases), "--end", str(end), "--folder", str(folder)]
    command += ["--keep"] if given.keep else []
    paths = [str(HERE.parents[1]), str(HERE.parent)]  # sparkanon, and what tests share
    environment = os.environ | {
        "SPARK_SUBMIT_OPTS": JAVA,
        "TMPDIR": str(folder / "tmp"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]),
    }
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    return Worker(process, folder)


def watch(workers: list[Worker], tally: Tally, given: argparse.Namespace, end: float) -> list[str]:
    """Until all are done or the time is up; returns what is wrong with the workers themselves."""
    wrong = []
    while True:
        running = [one for one in workers if one.process.poll() is None]
        for line in (line for one in workers for line in one.results()):
            known = set(tally.failures)
            tally.take(line)
            for number in set(tally.failures) - known:
                repeat(given.seed, number, tally.failures[number])
        over = time.time() > end + GRACE and not given.cases
        if not running or over:
            break
        time.sleep(0.5)
    for number, began in tally.open.items():
        if time.time() - began > HANGS:
            tally.failures[number] = "does not end"
            repeat(given.seed, number, tally.failures[number])
    for one in workers:
        if one.process.poll() not in (None, 0):
            wrong.append(f"a worker ended with {one.process.returncode}; its last case was open")
            for number in tally.open:
                repeat(given.seed, number, "was open when a worker died")
        one.stop()
    return wrong


def repeat(seed: int, number: int, what: str) -> None:
    command = f"python tests/fuzz/run.py --seed {seed} --first {number} --cases 1 --keep"
    print(f"FAILED {what}\n  {command}", flush=True)


def verdict(tally: Tally, seconds: float, given: argparse.Namespace) -> list[str]:
    """Why the run as a whole is no success."""
    wrong = ["the search finds no literal in a plan"] if tally.blind else []
    wrong += [f"{len(tally.failures)} cases failed"] if tally.failures else []
    if given.cases:
        return wrong
    least = int(max(0.0, seconds - START) * LEAST / 60)
    if tally.cases < least:
        wrong.append(f"only {tally.cases} cases in {seconds:.0f} s, at least {least} are wanted")
    # two thirds publish; how many of some dozens do is chance, and no seed may fail by it
    if 2 * tally.statuses["published"] < tally.cases - 2 * math.sqrt(tally.cases):
        wrong.append("far fewer than half of the cases published")
    return wrong


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=180.0)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    options.add_argument("--cases", type=int, default=0, help="so many, whatever time they take")
    options.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options.add_argument("--keep", action="store_true", help="keep folders; show tracebacks")
    given = options.parse_args()
    given.workers = 1 if given.cases else given.workers
    began, end = time.monotonic(), time.time() + given.seconds
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    print(f"seed {given.seed}, {given.workers} workers", flush=True)
    tally = Tally()
    workers = [start(given, i, folder / f"worker{i}", end) for i in range(given.workers)]
    try:
        wrong = watch(workers, tally, given, end)
    finally:
        for one in workers:
            one.stop()
        if given.keep:
            print(f"kept: {folder}")
            print("".join((one.folder / "output.txt").read_text() for one in workers))
        else:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - began
    wrong += verdict(tally, seconds, given)
    for kind, times in tally.refusals.most_common(SHOWN):
        print(f"  refused {times} x {kind}")
    stories = ", ".join(f"{name} {times}" for name, times in tally.stories.most_common())
    reached = ", ".join(f"{name} {times}" for name, times in tally.reached.most_common())
    print(
        f"stories: {stories}\npublished: {reached}\n{dict(tally.statuses)} in {seconds:.0f} s",
        end=", ",
    )
    print(f"{60 * tally.cases / seconds:.1f} cases a minute, {len(tally.failures)} failed")
    for what in wrong:
        print(f"FAILED: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
