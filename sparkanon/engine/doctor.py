"""Is this session, store and cluster ready for a run? Each check says what to change if not."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkanon.engine.session import executors
from sparkanon.engine.session.executors import Worker
from sparkanon.engine.session.hadoop import locate
from sparkanon.engine.session.session import delta_coordinates, has_delta, was_started
from sparkanon.engine.stores.place import Place
from sparkanon.errors import InputError, Problem, SparkanonError, counted
from sparkanon.raised import raised_at

_OLDEST_JAVA = 17
_ROWS = 8  # of the tables that are tried
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
    if output is not None:
        checks += _store(spark, output)
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


def _store(spark: SparkSession, output: str) -> Iterator[Check]:
    """What a run does with a store, tried in a private folder beside the output."""
    try:
        place = locate(spark, output, "--output")
        beside = place.parent
        while not beside.is_there() and beside != beside.parent:
            beside = beside.parent
        trial = beside / f".sparkanon-doctor-{secrets.token_hex(8)}"
        try:
            trial.make_folder()
            yield from _tried(spark, trial)
        finally:
            trial.remove_tree()
    except InputError as error:
        yield Check("store", "fail", "; ".join(one.message for one in error.problems))
    except OSError as error:
        change = "give its user the right to, or choose another place"
        yield Check("store", "fail", f"{output} cannot be used ({error.strerror})", change)
    except PySparkException as error:
        text = f"Spark cannot write {output}, or not read it again ({raised_at(error)})"
        yield Check("store", "fail", text, "look into Spark's own log")


def _tried(spark: SparkSession, trial: Place) -> Iterator[Check]:
    for kind in ("parquet", *(["delta"] if has_delta(spark) else [])):
        rows = trial / kind
        spark.range(_ROWS).write.format(kind).save(rows.url)
        if spark.read.format(kind).load(rows.url).count() != _ROWS:
            text = "what executors write there is not what is read again"
            yield Check("store", "fail", text, "choose a place that driver and executors share")
            return
    if not trial.has_folders:
        yield Check("store", "ok", "Spark writes and reads it")
        text = "an object store cannot replace a folder in one step"
        yield Check("folders", "warn", text, "publish with format delta there")
        return
    (trial / "parquet").rename(trial / "renamed")
    yield Check("store", "ok", "Spark writes and reads it, and folders can be renamed")
    yield Check("folders", "ok", "are private by their modes while they wait")


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
