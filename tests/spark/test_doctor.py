"""`sparkanon doctor`: what it finds in this session, and what it says of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from pyspark.sql import SparkSession

from sparkanon.engine import doctor
from sparkanon.engine.session import executors
from sparkanon.engine.session.executors import Worker
from sparkanon.errors import InputError, Problem

NAMES = [
    "java",
    "spark",
    "executors",
    "python",
    "package",
    "kernels",
    "libraries",
    "delta",
    "scratch",
    "network",
    "sockets",
]


def by_name(checks: list[doctor.Check]) -> dict[str, doctor.Check]:
    return {check.name: check for check in checks}


def test_all_is_well(tmp_path: Path, command: Command) -> None:
    done = command(tmp_path, "doctor", "--json")
    assert done.returncode == 0, done.stdout
    reported = json.loads(done.stdout)
    assert reported["status"] == "ok"
    assert "errors" not in reported
    assert [check["check"] for check in reported["checks"]] == NAMES
    assert {check["state"] for check in reported["checks"]} == {"ok"}
    assert all(
        check.keys() == {"check", "state", "found", "change"} for check in reported["checks"]
    )
    person = command(tmp_path, "doctor")
    assert person.returncode == 0
    assert person.stdout.count("✓") == len(NAMES)
    assert person.stdout.rstrip().endswith("ready")


def test_what_fails_is_said(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Worker("node-7", "3.11.7", {})
    monkeypatch.setattr(executors, "asked", lambda _: [bare])
    done = command(tmp_path, "doctor", "--json")
    assert done.returncode == 2
    reported = json.loads(done.stdout)
    assert reported["status"] == "error"
    (error,) = reported["errors"]
    assert error["path"] == "executors"
    assert "have no sparkanon" in error["message"]
    assert "node-7" in error["message"]
    checks = {check["check"]: check for check in reported["checks"]}
    assert not {"package", "kernels", "libraries"} & checks.keys()
    person = command(tmp_path, "doctor")
    assert person.returncode == 2
    assert person.stdout.rstrip().endswith("not ready: 1 check failed")


def test_other_versions_are_warned_of(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = {"numpy": "1.0", "numba": None, "pyarrow": "1.0"}
    other = Worker("a", "3.11.0", libraries, "0.2.0", same=True, cache="/cache")
    monkeypatch.setattr(executors, "asked", lambda _: [other])
    checks = by_name(doctor.examine(spark))
    assert checks["python"].state == checks["libraries"].state == "warn"
    assert "3.11.0 on executors" in checks["python"].found
    assert "numpy 1.0 (here " in checks["libraries"].found
    assert "numba None (here " in checks["libraries"].found


def test_a_job_that_cannot_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: SparkSession) -> list[Worker]:
        raise InputError(Problem("executors", "do not find the Python"))

    monkeypatch.setattr(executors, "asked", failing)
    check = by_name(doctor.examine(spark))["executors"]
    assert check.state == "fail"
    assert check.sentence == "executors do not find the Python"


@pytest.mark.parametrize(
    ("settings", "name", "setting"),
    [
        ({}, "scratch", "spark.io.encryption.enabled=true"),
        ({"spark.master": "yarn"}, "network", "spark.network.crypto.enabled=true"),
        ({}, "sockets", "spark.python.unix.domain.socket.enabled=true"),
        ({}, "delta", "--packages"),
    ],
)
def test_settings(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    name: str,
    setting: str,
) -> None:
    """In a session that says nothing but this."""

    class Settings:
        def get(self, name: str, default: Any = None) -> Any:
            return settings.get(name, default)

    monkeypatch.setattr(spark, "conf", Settings())
    monkeypatch.setattr(executors, "asked", lambda _: [Worker("a", "3.11.7", {})])
    check = by_name(doctor.examine(spark))[name]
    assert check.state == "warn"
    assert setting in check.change


def test_no_java(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparkanon.engine.session import session

    monkeypatch.setattr(session.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    done = command(tmp_path, "doctor", "--json")
    assert done.returncode == 2
    (check,) = json.loads(done.stdout)["checks"]
    assert check["state"] == "fail"
    assert "Spark needs Java" in check["found"]


def test_a_store(spark: SparkSession, tmp_path: Path) -> None:
    checks = by_name(doctor.examine(spark, str(tmp_path / "lake" / "people")))
    assert checks["store"].state == checks["folders"].state == "ok"
    assert "renamed" in checks["store"].found
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["nowhere://host/people", "/proc/people", "hdfs://nowhere:1/x"])
def test_a_store_that_does_not_work(spark: SparkSession, output: str) -> None:
    check = by_name(doctor.examine(spark, output))["store"]
    assert check.state == "fail"
    assert check.found


def test_executors_that_see_another_disk(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that the driver reads holds nothing of what they wrote."""
    monkeypatch.setattr(type(spark.range(1)), "count", lambda _: 0)
    check = by_name(doctor.examine(spark, str(tmp_path / "people")))["store"]
    assert check.state == "fail"
    assert "share" in check.change
    assert list(tmp_path.iterdir()) == []
