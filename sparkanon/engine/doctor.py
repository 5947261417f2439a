"""Is this session, store and cluster ready for a run? Each check says what to change if not."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkanon.engine.session import executors
from sparkanon.engine.session.executors import Worker
from sparkanon.engine.session.session import delta_coordinates, has_delta, was_started
from sparkanon.errors import InputError, Problem, SparkanonError, counted
from sparkanon.raised import raised_at

_OLDEST_JAVA = 17
_ON = "--conf {}=true"


@dataclass(frozen=True)
class Check:
    """What was found, and what to change about it, which is nothing if all is well."""

    name: str
    state: Literal["ok", "warn", "fail"]
    found: str
    change: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.found}: {self.change}" if self.change else self.found

    def to_dict(self) -> dict[str, str]:
        return {
            "check": self.name,
            "state": self.state,
            "found": self.found,
            "change": self.change,
        }


def not_started(error: SparkanonError) -> Check:
    return Check("spark", "fail", "; ".join(map(str, error.problems)))


def examine(spark: SparkSession, output: str | None = None) -> list[Check]:
    """All checks, in the order in which a run would fail."""
    checks = [_java(spark), _spark(spark), *_executors(spark)]
    return [*checks, _delta(spark), _scratch(spark), _network(spark), _sockets(spark)]


def _java(spark: SparkSession) -> Check:
    asked = "java_method('java.lang.System', 'getProperty', 'java.version')"
    try:
        row = spark.sql(f"select {asked}").first()
    except PySparkException:  # some platforms forbid the question
        return Check("java", "ok", "Spark runs, and does not say on which Java")
    found = str(row[0]) if row is not None else ""
    major = found.split(".")[0]
    if major.isdigit() and int(major) < _OLDEST_JAVA:
        return Check("java", "fail", f"Java {found}", f"install Java {_OLDEST_JAVA} or newer")
    return Check("java", "ok", f"Java {found}")


def _spark(spark: SparkSession) -> Check:
    here, there = version("pyspark"), spark.version
    if there.split(".")[:2] == here.split(".")[:2]:
        return Check("spark", "ok", f"Spark {there}")
    change = f"install pyspark {there}, or take a cluster of Spark {here}"
    return Check("spark", "fail", f"Spark is {there} and the driver's pyspark {here}", change)


def _executors(spark: SparkSession) -> Iterator[Check]:
    """What Python workers say; if one cannot work, what is asked after that is left out."""
    try:
        workers = executors.asked(spark)
    except InputError as error:
        yield from _failed(error.problems)
        return
    except Exception as error:  # some come from the JVM as they are
        change = f"look into Spark's own log ({raised_at(error)})"
        yield Check("executors", "fail", "a small job in Python does not run", change)
        return
    slots = counted(len(workers), "slot")
    yield Check("executors", "ok", f"{slots} on {executors.machines(workers)}")
    yield _python(workers)
    problems = executors.problems_of(workers)
    yield from _failed(problems)
    if problems:
        return
    yield Check("package", "ok", f"sparkanon {version('sparkanon')}, the same as here")
    folders = ", ".join(sorted({str(worker.cache) for worker in workers}))
    yield Check("kernels", "ok", f"compiled ones are kept in {folders}")
    others = "; ".join(executors.other_libraries(workers))
    if others:
        change = "install the same versions, because releases may differ in the last digit"
        yield Check("libraries", "warn", others, change)
        return
    libraries = (f"{name} {found}" for name, found in workers[0].libraries.items())
    yield Check("libraries", "ok", f"{', '.join(libraries)}, as here")


def _failed(problems: Sequence[Problem]) -> Iterator[Check]:
    for one in problems:
        yield Check(one.path, "fail", f"{one.path} {one.message}")


def _python(workers: Sequence[Worker]) -> Check:
    here, there = platform.python_version(), sorted({worker.python for worker in workers})
    if there == [here]:
        return Check("python", "ok", f"Python {here} on the driver and on executors")
    change = "let PYSPARK_PYTHON name the same one on both"
    found = f"Python {', '.join(there)} on executors and {here} on the driver"
    return Check("python", "warn", found, change)


def _delta(spark: SparkSession) -> Check:
    if not has_delta(spark):
        if was_started(spark):
            found = "fetched from Maven Central when a policy asks for it"
            return Check("delta", "ok", found)
        change = "start it with --packages and two settings (docs/running.md) for format delta"
        return Check("delta", "warn", "this session has no Delta Lake", change)
    try:
        spark.sql("select * from delta.`/sparkanon-doctor/nowhere`").schema  # noqa: B018
    except PySparkException as error:
        if str(error.getCondition()).startswith(("DELTA_", "PATH_NOT_FOUND", "TABLE_OR_VIEW")):
            return Check("delta", "ok", "Delta Lake is there")
    change = f"its jars are missing; give --packages {delta_coordinates()}"
    return Check("delta", "fail", "Delta Lake is set up and does not answer", change)


def _is_on(spark: SparkSession, name: str) -> bool:
    return str(spark.conf.get(name, "false")).lower() == "true"


def _scratch(spark: SparkSession) -> Check:
    name = "spark.io.encryption.enabled"
    if _is_on(spark, name):
        return Check("scratch", "ok", "rows that Spark shuffles and spills are encrypted")
    found = "rows that Spark shuffles and spills stand on executors' disks as they are"
    return Check("scratch", "warn", found, _ON.format(name))


def _network(spark: SparkSession) -> Check:
    name = "spark.network.crypto.enabled"
    if not executors.are_elsewhere(spark) or _is_on(spark, name):
        return Check("network", "ok", "rows and keys travel encrypted, or stay on this machine")
    return Check("network", "warn", "rows travel between executors as they are", _ON.format(name))


def _sockets(spark: SparkSession) -> Check:
    name = "spark.python.unix.domain.socket.enabled"
    if _is_on(spark, name):
        return Check("sockets", "ok", "Python workers are reached by Unix sockets")
    found = "Python workers are reached by TCP, which waits some 40 ms in every task"
    return Check("sockets", "warn", found, _ON.format(name))
