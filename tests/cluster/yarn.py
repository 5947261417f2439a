"""A real YARN on this machine: a ResourceManager, and a NodeManager with a disk of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from daemons import LOOPBACK, Daemon, free_ports
from disks import Machine
from hadoop import java, write_site
from hdfs import Hdfs
from jars import SPARK, jars
from standalone import REPOSITORY

_SCHEDULER = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
_HEALTH = "yarn.nodemanager.disk-health-checker"
_RESOURCE_MANAGER = ("", "scheduler.", "resource-tracker.", "admin.", "webapp.")
_NODE_MANAGER = ("", "localizer.", "webapp.", "collector-service.")
_SMALL = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.executor.instances": "2",
    "spark.sql.shuffle.partitions": "4",
}
Submitted = subprocess.CompletedProcess[str]


class Yarn:
    """Started by `with`, on a store that runs; the store's `conf` is then for both."""

    def __init__(self, folder: Path, store: Hdfs) -> None:
        self._folder, self._conf = folder, store.conf
        folder.mkdir(parents=True)
        local = Path("/tmp/yarn")  # on the node's own disk
        names = [f"resourcemanager.{name}" for name in _RESOURCE_MANAGER]
        names += [f"nodemanager.{name}" for name in _NODE_MANAGER]
        ports = free_ports(len(names))
        self._web = ports[names.index("resourcemanager.webapp.")]
        write_site(
            store.conf,
            "yarn",
            {
                f"yarn.{n}address": f"{LOOPBACK}:{port}"
                for n, port in zip(names, ports, strict=True)
            }
            | {
                "yarn.resourcemanager.hostname": LOOPBACK,
                "yarn.resourcemanager.bind-host": LOOPBACK,
                "yarn.nodemanager.hostname": LOOPBACK,
                "yarn.nodemanager.bind-host": LOOPBACK,
                "yarn.resourcemanager.scheduler.class": _SCHEDULER,
                "yarn.scheduler.minimum-allocation-mb": 256,
                "yarn.nodemanager.resource.memory-mb": 8192,
                "yarn.nodemanager.resource.cpu-vcores": 8,
                "yarn.nodemanager.pmem-check-enabled": "false",
                "yarn.nodemanager.vmem-check-enabled": "false",
                f"{_HEALTH}.max-disk-utilization-per-disk-percentage": 99,
                "yarn.nodemanager.local-dirs": local / "local",
                "yarn.nodemanager.log-dirs": local / "logs",
                "yarn.nodemanager.user-home-dir": local / "home",
                "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR",
            },
        )
        self._stack = ExitStack()

    def __enter__(self) -> Yarn:
        name = "yarn.server.resourcemanager.ResourceManager"
        try:
            manager = Daemon("ResourceManager", java(self._conf, name), self._folder / "rm.log")
            self._stack.enter_context(manager).wait(manager.listens(self._web))
            self.node = self._stack.enter_context(self._machine())
            command = java(self._conf, "yarn.server.nodemanager.NodeManager")
            env = {"HADOOP_CONF_DIR": str(self._conf), "TMPDIR": "/tmp", "JAVA_HOME": _java_home()}
            log = self._folder / "nm.log"
            command = self.node.inside(command)
            node = Daemon("NodeManager", command, log, env, orphaned="TERM")  # for its containers
            self._stack.enter_context(node).wait(node.said("Registered with ResourceManager"))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def submit(
        self, folder: Path, mode: str, settings: Mapping[str, str], *job: object
    ) -> Submitted:
        """spark-submit in a folder; the Python of `job` is that of the archive `env`."""
        python = {"spark.pyspark.python": "env/bin/python"}
        if mode == "client":  # the driver runs here
            python["spark.pyspark.driver.python"] = sys.executable
        chosen = [
            f"--conf={name}={value}" for name, value in {**_SMALL, **python, **settings}.items()
        ]
        command = [str(SPARK / "bin" / "spark-submit"), "--master=yarn", f"--deploy-mode={mode}"]
        return subprocess.run(
            [*command, *chosen, *map(str, job)],
            cwd=folder,
            env=os.environ | {"HADOOP_CONF_DIR": str(self._conf), "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            check=False,
        )

    def _machine(self) -> Machine:
        """It has Java, Hadoop and settings, but no Python of ours, no Spark and no sparkanon."""
        here = [Path(sys.prefix), Path(sys.base_prefix), SPARK, REPOSITORY]
        hidden = [Path("/tmp"), Path(tempfile.gettempdir()), self._folder, Path.home(), *here]
        log = self._folder / "node.log"
        return Machine("the node", log, hidden, [self._conf, jars()])


def _java_home() -> str:
    found = shutil.which("java")
    assert found is not None
    return str(Path(found).resolve().parents[1])
