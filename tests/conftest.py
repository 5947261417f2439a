"""Fixtures shared by all tests. The Spark session starts only when a test asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from seeds import seed_text

pytest_plugins = ["no_skips"]

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# Short jobs: the JVM's second compiler would take as much time as they do.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC"
)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    from sparkanon.engine.session.session import get_session

    folder = tmp_path_factory.mktemp("spark")
    session = get_session(
        delta=True,
        log=folder / "spark.log",
        conf={
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "2g",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        },
    )
    yield session
    session.stop()


@pytest.fixture(params=["files", "spark"])
def stager(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Once as on this machine, and once as on a cluster whose executors share no folder."""
    from sparkanon.engine.mask import stage

    monkeypatch.setattr(stage, "shares_folders", lambda _: request.param == "files")
    return str(request.param)


Command = Callable[..., CompletedProcess[str]]


@pytest.fixture
def command(
    spark: object, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """`sparkanon` in this process: a JVM of its own takes as long as a dozen other tests.

    That JVM has a working folder of its own, so tables need absolute paths.
    """
    from sparkanon.cli.app import run

    def call(folder: Path, *arguments: str) -> CompletedProcess[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("CLI_SEED", seed_text())
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        capfd.readouterr()
        code = run(list(arguments))
        reported = capfd.readouterr()
        return CompletedProcess(arguments, code, reported.out, reported.err)

    return call


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240501)
