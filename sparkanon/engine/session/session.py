"""The Spark session: quiet, with the right Python, with Delta only when a policy asks for it."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkanon.engine.stores.owned import scratch
from sparkanon.errors import InputError, SparkanonError

_QUIET_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.databricks.delta.snapshotPartitions": "2",
    # Unix sockets, because local TCP waits 40 ms for an acknowledgement in every task.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # it calls the JVM for every column
    # The default of 200 partitions costs more than the work itself on a few cores.
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 2)),
    "spark.io.encryption.enabled": "true",  # rows that Spark shuffles and spills
}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_STARTED = "spark.sparkanon.started"  # says that sparkanon started the session, for itself alone
_PRIVATE = 0o077
_SOCKET_PATH = 60  # bytes of a folder's path, because a socket's whole path may have about 100
_jvm_starts = threading.Event()


def get_session(
    *, delta: bool = False, log: Path | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """The active session, or a new one that writes its log into `log`.

    Under spark-submit the session belongs to the cluster's settings and none are changed. On its
    own it is a local one; `SPARK_CONF_DIR` (default: conf/spark of the working folder, where there
    is one) may set anything, a mirror or a folder of jars for Delta included.
    """
    for name in _QUIET_LOGGERS:  # these print whole plans, including literals
        logging.getLogger(name).setLevel(logging.CRITICAL)
    session = SparkSession.getActiveSession()
    if session is None:
        session = _new_session(delta, log, conf or {})
    if delta and not has_delta(session):
        raise InputError(
            "the running Spark session has no Delta Lake; start it with "
            "--packages io.delta:delta-spark_4.2_2.13:4.4.0 and the two settings of "
            "docs/running.md, or use another format"
        )
    return session


def _new_session(delta: bool, log: Path | None, conf: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.appName("sparkanon")
    settings = {_STARTED: "true"} if _of_another_thread() is None else {}
    if not {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"} & set(os.environ):  # not under spark-submit
        require_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        own = Path("conf/spark").resolve()
        if own.is_dir():
            os.environ.setdefault("SPARK_CONF_DIR", str(own))
        settings |= _without_chosen(_LOCAL | _private_files(conf))
        if delta:
            settings |= _DELTA | _without_chosen({"spark.jars.packages": delta_coordinates()})
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    for last in (not delta, True):  # with Delta a second try, because a download can fail once
        try:
            with one_download() if delta else nullcontext(), _said_into(log), _private_umask():
                return builder.getOrCreate()
        except Exception:
            if last:
                break
    hint = "its jars come from Maven Central the first time; docs/running.md names other ways"
    raise SparkanonError(
        f"Spark did not start{f' with Delta Lake ({hint})' if delta else ''}; log: {log}"
    )


def _private_files(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings that keep Spark's temporary files in a private folder that is cleared."""
    umask = os.umask(_PRIVATE)
    os.umask(umask)
    # Hadoop has a umask of its own for the files of tables, and ignores that of the JVM
    settings = {"spark.hadoop.fs.permissions.umask-mode": f"{umask:03o}"}
    master = {"spark.master": "local", **_chosen(), **conf}["spark.master"]
    if master.startswith("local") and "SPARK_LOCAL_DIRS" not in os.environ:
        settings["spark.local.dir"] = str(scratch())  # private, and cleared by later runs
        if len(os.fsencode(scratch())) <= _SOCKET_PATH:
            settings["spark.python.unix.domain.socket.dir"] = str(scratch())
        else:  # TCP is slower, but Spark's secret keeps other users out
            settings["spark.python.unix.domain.socket.enabled"] = "false"
    return settings


@contextlib.contextmanager
def one_download() -> Iterator[None]:
    """While this lasts, no other process of this user downloads jars.

    Ivy, which fetches them, breaks its own cache if two processes fill it at the same time.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a home that nobody can write holds no cache, either
            folder = Path.home() / ".local" / "state" / "sparkanon"
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = stack.enter_context((folder / "download.lock").open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _private_umask() -> Iterator[None]:
    """While this lasts, a JVM that starts can write no file that others may read.

    The umask is set in the new process alone, because here it would hold for all threads.
    """
    _jvm_starts.set()
    try:
        yield
    finally:
        _jvm_starts.clear()


def _in_new_process() -> None:
    if _jvm_starts.is_set():
        os.umask(_PRIVATE)


os.register_at_fork(after_in_child=_in_new_process)


def _without_chosen(settings: Mapping[str, str]) -> dict[str, str]:
    """Leave out what the user's spark-defaults.conf already says."""
    chosen = set(_chosen())
    if "spark.jars" in chosen:  # a folder of jars replaces the download
        chosen.add("spark.jars.packages")
    return {name: value for name, value in settings.items() if name not in chosen}


def _chosen() -> dict[str, str]:
    """The settings in the user's spark-defaults.conf."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else None)
    defaults = Path(folder) / "spark-defaults.conf" if folder else None
    if defaults is None or not defaults.is_file():
        return {}
    lines = map(str.strip, defaults.read_text(encoding="utf-8").splitlines())
    pairs = [re.split(r"\s*[\s=:]\s*", f"{line} ", maxsplit=1) for line in lines if line]
    return {name: value.strip() for name, value in pairs if not name.startswith("#")}


def delta_coordinates() -> str:
    """Where Maven has the jars of Delta Lake that fit this Spark."""
    from importlib.metadata import version

    spark = ".".join(version("pyspark").split(".")[:2])
    return f"io.delta:delta-spark_{spark}_2.13:{version('delta-spark')}"


def has_delta(session: SparkSession) -> bool:
    """Whether the session was started with Delta Lake."""
    return "delta" in str(session.conf.get("spark.sql.extensions", "") or "").lower()


def was_started(session: SparkSession) -> bool:
    """Whether sparkanon started the session, which nobody else uses then."""
    return session.conf.get(_STARTED, "false") == "true"


def session_of(given: SparkSession | None, *frames: DataFrame | None) -> SparkSession:
    """The session that was given, else that of the first table, else the active one, else ours."""
    known = given or next((frame.sparkSession for frame in frames if frame is not None), None)
    known = known or SparkSession.getActiveSession()
    # another thread's session is not active in this one, and its settings are not to be changed
    return known or _of_another_thread() or get_session()


def _of_another_thread() -> SparkSession | None:
    return getattr(SparkSession, "_instantiatedSession", None)


def shares_folders(session: SparkSession) -> bool:
    """Whether the executors are surely on this machine, and see the driver's folders."""
    connect = type(session).__module__.startswith("pyspark.sql.connect.")
    return not connect and str(session.conf.get("spark.master", "local")).startswith("local")


def batches_by_rows(session: SparkSession) -> contextlib.AbstractContextManager[None]:
    """While this lasts, rows go to Python in batches of a number of rows, whatever their bytes.

    Otherwise Spark counts the bytes of the batch again after every row, which is a fifth of the
    JVM's work in a masking job. A whole block is held in memory anyway.
    """
    return _setting(session, "spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1))


def times_in_micros(session: SparkSession) -> contextlib.AbstractContextManager[None]:
    """While this lasts, Spark writes timestamps to Parquet as our workers do, not as INT96.

    Other readers cannot take dates of the year 1 or 9999 out of that old type.
    """
    return _setting(session, "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


def many_classes(session: SparkSession) -> contextlib.AbstractContextManager[None]:
    """While this lasts, Spark counts groups without its small first-level hash map.

    That map holds 65,536 classes. With more, every row is looked up in two maps, and a count
    takes half as long again.
    """
    return _setting(session, "spark.sql.codegen.aggregate.map.twolevel.enabled", "false")


@contextlib.contextmanager
def _setting(session: SparkSession, name: str, value: str) -> Iterator[None]:
    """Only in a session that sparkanon started: others may run queries in theirs meanwhile."""
    if not was_started(session):
        yield
        return
    before = session.conf.get(name, None)
    session.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, before)


def require_java() -> None:
    """Say what to do when there is no Java 17 or newer."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    advice = "install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless) "
    advice += "or set JAVA_HOME"
    if java is None or not shutil.which(java):
        raise SparkanonError(f"Spark needs Java and none was found: {advice}")
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    major = text.partition('version "')[2].split(".")[0].strip('"\n -ea')
    if major.isdigit() and int(major) < 17:
        raise SparkanonError(f"Spark needs Java 17 or newer, this is Java {major}: {advice}")


def log_file(run_id: str) -> Path:
    """A private file for what Spark and Ivy print."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(base) / "sparkanon" / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="sparkanon-logs-"))
    return folder / f"{run_id}.log"


@contextlib.contextmanager
def _said_into(log: Path | None) -> Iterator[None]:
    """While this lasts, a JVM that starts gets the log file as its stdout and stderr."""
    if log is None:
        yield
        return
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), saved, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(target)
