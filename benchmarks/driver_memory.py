"""Anonymize a table with executors in processes of their own; print the driver's peak in MB.

python benchmarks/driver_memory.py TABLE OUTPUT
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import psutil

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def driver_mb(me: psutil.Process) -> float:
    """Python and the driver's JVM; executors are JVMs below it and do not count."""
    total = me.memory_info().rss
    for child in me.children(recursive=True):
        try:
            line = child.cmdline()
            if "java" in child.name() and "org.apache.spark.deploy.SparkSubmit" in line:
                total += child.memory_info().rss
        except psutil.Error:
            continue
    return total / 2**20


def main() -> None:
    from run import QUASI, policy

    from sparkanon.engine.pipeline import anonymize
    from sparkanon.engine.session.session import get_session

    assert len(QUASI) == 8
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    spark = get_session(
        log=output.with_name("driver.log"),
        conf={
            "spark.master": "local-cluster[2,1,3072]",
            "spark.driver.memory": "1g",
            "spark.executor.memory": "3g",
            # a heap that is used up before it is cleaned would hide what is really needed
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Xms128m "
            "-XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20",
        },
    )
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        me = psutil.Process()
        while not done.is_set():
            peak = max(peak, driver_mb(me))
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    anonymize(None, policy(source, output), spark=spark)
    done.set()
    watcher.join()
    spark.stop()
    print(f"{peak:.0f}")


if __name__ == "__main__":
    main()
