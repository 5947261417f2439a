"""Runs that die, and time that passes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sparkanon.engine.stores.lease import LEASE


def die_in(code: str, folder: Path) -> None:
    """Run this in a process that is killed at its end, with `folder` for its temporary files."""
    code = (
        "import os\n"
        "from sparkanon.engine.stores.posix import Posix as Path\n"
        "from sparkanon.engine.stores import staging as module, swap\n"
        "from sparkanon.engine.stores.staging import Staging\n"
        f"def die(*_):\n    os.kill(os.getpid(), {signal.SIGKILL:d})\n{code}\ndie()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(folder)}, check=False
    )
    assert found.returncode == -signal.SIGKILL


def long_ago(folder: Path, seconds: float = 3600) -> None:
    """As if this folder's run had given no sign of life for so long."""
    held = folder / LEASE
    then = time.clock_gettime(time.CLOCK_REALTIME) - seconds
    os.utime(held if held.exists() else folder, (then, then))
