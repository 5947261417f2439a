"""Spark's own cluster: a master and two workers that share no disk with anybody."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from daemons import LOOPBACK, Daemon, free_ports
from disks import Machine
from jars import SPARK

REPOSITORY = Path(__file__).parents[2]
FAULTY = Path(__file__).with_name("faulty")  # what Python workers import when they start
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Standalone:
    """Started by `with`; `url` is for spark.master."""

    def __init__(self, folder: Path, hadoop_conf: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self._port, self._web = free_ports(2)
        self.url = f"spark://{LOOPBACK}:{self._port}"
        self._conf = hadoop_conf
        self._env = {
            "SPARK_HOME": str(SPARK),
            "SPARK_DAEMON_JAVA_OPTS": _QUICK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "HADOOP_CONF_DIR": str(hadoop_conf),
            "PYTHONPATH": str(REPOSITORY),
        }
        self._stack = ExitStack()
        self.machines: list[Machine] = []
        self.workers: list[Daemon] = []

    def __enter__(self) -> Standalone:
        try:
            command = [*_start("master.Master"), "--host", LOOPBACK, "--port", str(self._port)]
            command += ["--webui-port", str(self._web)]
            master = Daemon("master", command, self._folder / "master.log", self._env)
            self._stack.enter_context(master).wait(master.said("New state: ALIVE"))
            for number in range(2):
                self.machines.append(self._stack.enter_context(self._machine(number)))
                self.workers.append(self._stack.enter_context(self._worker(number)))
            for worker in self.workers:
                worker.wait(worker.said("Successfully registered with master"))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def _machine(self, number: int) -> Machine:
        """It has the programs and the settings of the store, and nothing of the tests' folders."""
        hidden = [Path("/tmp"), Path(tempfile.gettempdir()), self._folder]
        programs = [
            Path(sys.prefix),
            Path(sys.base_prefix),
            SPARK,
            REPOSITORY / "sparkanon",
            FAULTY,
        ]
        log = self._folder / f"machine{number}.log"
        return Machine(f"machine {number}", log, hidden, [*programs, self._conf])

    def _worker(self, number: int) -> Daemon:
        # an address of its own, because executors of one host read each other's disks
        work, host = f"/tmp/worker{number}", f"127.0.0.{2 + number}"
        command = [*_start("worker.Worker"), "--host", host, "--cores", "8"]
        command += ["--memory", "8g", "--work-dir", work, "--webui-port", "0", self.url]
        env = self._env | {"SPARK_LOCAL_DIRS": f"{work}/local", "TMPDIR": "/tmp"}
        env |= {"SPARK_LOCAL_IP": host}
        log = self._folder / f"worker{number}.log"
        return Daemon(f"worker {number}", self.machines[number].inside(command), log, env)

    def again(self, number: int) -> None:
        """Start a worker that was killed, on its machine with its disk."""
        self.workers[number] = worker = self._stack.enter_context(self._worker(number))
        worker.wait(worker.said("Successfully registered with master"))


def _start(name: str) -> list[str]:
    return [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]


def settings(cluster: Standalone) -> dict[str, str]:
    """What a driver says to work there: small, and as private as docs/running.md advises."""
    return {
        "spark.master": cluster.url,
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.cores.max": "2",
        "spark.executor.cores": "1",  # one on each worker
        "spark.executor.memory": "1g",
        "spark.executor.extraJavaOptions": _QUICK,
        "spark.executorEnv.PYTHONPATH": f"{REPOSITORY}:{FAULTY}",
        "spark.pyspark.python": sys.executable,
        "spark.io.encryption.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.parquet.compression.codec": "uncompressed",  # rows can be searched for
        "spark.ui.enabled": "false",
    }
