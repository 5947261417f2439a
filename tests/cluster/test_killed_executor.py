"""A cluster of two executors, one of which is killed while it works: the same release."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("killed_executor.py")


def test_a_killed_executor_changes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["killed"] == 1
    assert told["calm"]["rows"] == told["stormy"]["rows"] == 12_000
    assert told["calm"]["hash"] == told["stormy"]["hash"]
    assert told["calm"]["blocks"] > 8
