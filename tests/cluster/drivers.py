"""Drivers as processes: how the tests start them, ask them to run something, and kill them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import driver
from seeds import seed_text
from standalone import REPOSITORY

KILLED = -9


@dataclass(frozen=True)
class Done:
    """How a command ended; `KILLED` if its driver died of it."""

    code: int
    out: str = ""
    err: str = ""

    def is_ok(self) -> Done:
        assert self.code == 0, self.err
        return self


class Driver:
    """Started by `with`, in a folder of its own that also holds its temporary files."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str],
        hadoop_conf: Path | None = None,
        *,
        delta: bool = False,
    ) -> None:
        self.folder, self._arguments = folder, ["delta"] if delta else []
        (folder / "tmp").mkdir(parents=True)
        lines = (f"{name} {value}\n" for name, value in settings.items())
        (folder / "spark-defaults.conf").write_text("".join(lines))
        self._env = os.environ | {
            "SPARK_CONF_DIR": str(folder),
            "XDG_STATE_HOME": str(folder),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests'}",
            "SPARKANON_SEED": seed_text(),
        }
        if hadoop_conf is not None:
            self._env["HADOOP_CONF_DIR"] = str(hadoop_conf)

    def __enter__(self) -> Driver:
        program = [sys.executable, driver.__file__, *self._arguments]
        with (self.folder / "driver.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.folder,
                env=self._env,
                start_new_session=True,
            )
        self.pid = self._process.pid
        assert self._heard() == {"ready": True}, (self.folder / "driver.log").read_text()
        return self

    def __exit__(self, *failure: object) -> None:
        with self._process:  # its input ends, and so does it
            pass

    def run(
        self,
        *arguments: object,
        die: Mapping[str, Any] | None = None,
        at: Callable[[str], None] = lambda step: None,
        small_blocks: bool = True,
    ) -> Done:
        """Run a command of sparkanon; `at` hears of every step that starts."""
        self.ask(*arguments, die=die, small_blocks=small_blocks)
        return self.answer(at)

    def sql(self, query: str) -> list[list[Any]]:
        self._order({"sql": query})
        return list(self._heard()["rows"])

    def ask(
        self,
        *arguments: object,
        die: Mapping[str, Any] | None = None,
        small_blocks: bool = True,
    ) -> None:
        order = {"arguments": [str(one) for one in arguments], "die": die or {}}
        self._order(order | {"small_blocks": small_blocks})

    def answer(self, at: Callable[[str], None] = lambda step: None) -> Done:
        while said := self._heard():
            if "step" in said:
                at(said["step"])
            else:
                return Done(**said)
        assert self._process.wait() == KILLED, (self.folder / "driver.log").read_text()
        return Done(KILLED)

    def kill(self) -> None:
        """With its JVM."""
        os.killpg(self.pid, signal.SIGKILL)

    def _order(self, order: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return dict(json.loads(line)) if line else {}
