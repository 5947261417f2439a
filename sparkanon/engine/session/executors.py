"""Executors on other machines: whether they can do their part, and kernels compiled there once."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from sparkanon.engine.session import probe
from sparkanon.errors import InputError, Problem, counted

cloudpickle.register_pickle_by_value(probe)  # type: ignore[no-untyped-call]

_PACKAGE = Path(__file__).resolve().parents[2]
_ROWS = 4096  # of the table that is asked; by default Spark makes a partition of it for every slot
_SHIPPED = "install it there, or ship an environment with --archives (docs/running.md)"
# What Spark says when it cannot run Python at all, and what that means.
_CANNOT_RUN = {
    "PYTHON_VERSION_MISMATCH": "run another Python than the driver: let PYSPARK_PYTHON name the "
    "same one on both",
    "Cannot run program": "do not find the Python that PYSPARK_PYTHON names (docs/running.md)",
    "PACKAGE_NOT_INSTALLED": f"lack a library that Spark needs for Arrow: {_SHIPPED}",
    "No module named": f"lack a library: {_SHIPPED}",
}
Work = Callable[[], object]


@dataclass(frozen=True)
class Worker:
    """What one Python worker found on its machine."""

    host: str
    python: str
    libraries: Mapping[str, str | None]
    version: str | None = None  # of sparkanon
    zipped: bool = False  # whether the package is in a zip file
    same: bool | None = None  # whether its sources are the driver's; None: there is no package
    lacks: str | None = None  # a library that it cannot import
    cache: str | None = None  # the folder of compiled kernels; empty: none

    @property
    def problem(self) -> str | None:
        """Why this worker cannot mask a block, in words that follow `executors`."""
        if self.same is None:
            return f"have no sparkanon: {_SHIPPED}"
        if self.zipped:
            return f"have sparkanon in a zip file, where kernels cannot be kept: {_SHIPPED}"
        if not self.same:
            return f"have another sparkanon ({self.version}) than the driver: {_SHIPPED}"
        if self.lacks is not None:
            return f"lack {self.lacks}: {_SHIPPED}"
        if not self.cache:
            return (
                "can keep no compiled kernels: let spark.executorEnv.NUMBA_CACHE_DIR name a "
                "folder that Python workers can write"
            )
        return None


def are_elsewhere(session: SparkSession) -> bool:
    """Whether Python workers may run on machines that do not have the driver's files."""
    if is_connect(session):
        return True
    master = str(session.conf.get("spark.master", ""))
    return master != "local" and not master.startswith("local[")


def is_connect(session: SparkSession) -> bool:
    """Whether the session is a client of a Spark server, without a JVM of its own."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def prepare(session: SparkSession, work: Work) -> str:
    """Compile kernels once on every machine, or say why executors cannot do their part.

    Executors that join later compile for themselves. Returns what a person may want to know.
    """
    found = asked(session, work)
    problems = problems_of(found)
    if problems:
        raise InputError(problems)
    return machines(found)


def asked(session: SparkSession, work: Work | None = None) -> list[Worker]:
    """What the Python workers say, one for each slot that Spark has now."""
    looking = probe.looking(probe.sources_of(_PACKAGE), pickle.dumps(work))
    try:
        rows = session.range(_ROWS).mapInArrow(looking, "found string").collect()
    except Exception as error:  # some come from the JVM as they are
        reasons = (why for mark, why in _CANNOT_RUN.items() if mark in str(error))
        why = next(reasons, None)
        if why is None:
            raise
        raise InputError(Problem("executors", why)) from None
    return [Worker(**json.loads(row["found"])) for row in rows]


def machines(workers: Sequence[Worker]) -> str:
    return counted(len({worker.host for worker in workers}), "machine")


def problems_of(workers: Sequence[Worker]) -> list[Problem]:
    """Every problem once, with a machine that has it."""
    hosts = {worker.problem: worker.host for worker in reversed(workers)}
    return [Problem("executors", f"{why} (seen on {hosts[why]})") for why in hosts if why]


def other_libraries(workers: Sequence[Worker]) -> Iterator[str]:
    """Libraries that have another version on some executor than here."""
    for name in probe.LIBRARIES:
        here = probe.version_of(name)
        there = sorted({str(w.libraries.get(name)) for w in workers} - {str(here)})
        if there:
            yield f"{name} {', '.join(there)} (here {here})"
