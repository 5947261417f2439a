"""Processes that run while a test needs them, and never longer."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"
_PATIENCE = 90.0  # seconds until a daemon must be ready


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody has at the moment."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]


class Daemon:
    """A process with a group of its own and a log.

    If this process dies, the kernel sends it a signal, `orphaned`.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        env: Mapping[str, str] | None = None,
        *,
        orphaned: str = "KILL",
    ) -> None:
        self.name, self.log = name, log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", orphaned, "--", *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | (env or {}),
                start_new_session=True,
            )
        self.pid = self._process.pid

    def wait(self, ready: Callable[[], bool]) -> Daemon:
        """Come back when `ready` says so; a daemon that ends before is an error."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                if ready():
                    return self
            time.sleep(0.2)
        last = self.log.read_text(errors="replace")[-3000:]
        raise RuntimeError(f"{self.name} did not get ready:\n{last}")

    def said(self, words: str) -> Callable[[], bool]:
        return lambda: words in self.log.read_text(errors="replace")

    def listens(self, port: int) -> Callable[[], bool]:
        def answers() -> bool:
            with socket.create_connection((LOOPBACK, port), timeout=1):
                return True

        return answers

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self, patience: float = 15) -> None:
        """End it in order, so that it can end what it started; then its group, by force."""
        with contextlib.suppress(ProcessLookupError):
            self.send(signal.SIGCONT)  # a stopped process does not hear that it should end
            self.send(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()
