"""On the path of the cluster's Python workers, which import it when they start.

A worker that finds an order on its machine's disk carries it out, once: `/tmp/kill-worker` kills
this process, `/tmp/kill-executor` the JVM that it works for. The file holds a number, the how
manieth block of this machine it happens at: the block is masked then, and not yet staged.
"""

import os
import signal
from pathlib import Path

from sparkanon.engine.mask.masking import Masking

_ORDERS = {"kill-worker": b"pyspark", "kill-executor": b"CoarseGrainedExecutorBackend"}
_mask = Masking.mask


def _then_die(self, *args, **kwargs):  # type: ignore[no-untyped-def]
    found = _mask(self, *args, **kwargs)
    for name, whose in _ORDERS.items():
        order = Path("/tmp") / name
        if order.exists():
            left = int(order.read_text()) - 1
            if left:
                order.write_text(str(left))
            else:
                order.unlink()
                os.kill(_first_above(os.getpid(), whose), signal.SIGKILL)
    return found


def _first_above(pid: int, whose: bytes) -> int:
    """This process, or the first of those that started it, with this word in its command."""
    while whose not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


Masking.mask = _then_die  # type: ignore[method-assign]
