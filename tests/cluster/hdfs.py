"""A real HDFS on this machine: one NameNode, one DataNode."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from daemons import LOOPBACK, Daemon, free_ports
from hadoop import java, write_site
from web import send

USER = "root"


@dataclass(frozen=True)
class Entry:
    """A file or folder of the store."""

    path: str
    is_file: bool
    mode: str  # octal digits, as 700


class Hdfs:
    """Started by `with`; `url` is the store's root, `conf` the folder for HADOOP_CONF_DIR."""

    def __init__(self, folder: Path) -> None:
        self.conf, self._folder = folder / "conf", folder
        self.data = folder / "data"  # the blocks, as they lie on the DataNode's disk
        rpc, self._http, *datanode = free_ports(5)
        self.port, self.url = rpc, f"hdfs://{LOOPBACK}:{rpc}"
        folder.mkdir(parents=True)
        write_site(self.conf, "core", {"fs.defaultFS": self.url})
        places = dict(zip(("", "http.", "ipc."), datanode, strict=True))
        write_site(
            self.conf,
            "hdfs",
            {
                "dfs.namenode.name.dir": folder / "name",
                "dfs.namenode.http-address": f"{LOOPBACK}:{self._http}",
                "dfs.namenode.rpc-bind-host": LOOPBACK,
                "dfs.datanode.data.dir": self.data,
                "dfs.replication": 1,
                "dfs.blocksize": 1 << 20,
                "dfs.namenode.fs-limits.min-block-size": 1 << 16,
                "dfs.heartbeat.interval": 1,  # deleted blocks go with the next heartbeats
                "dfs.permissions.enabled": "true",
            }
            | {f"dfs.datanode.{key}address": f"{LOOPBACK}:{port}" for key, port in places.items()},
        )
        self._stack = ExitStack()

    def __enter__(self) -> Hdfs:
        name, log = "hdfs.server.namenode.NameNode", self._folder / "namenode.log"
        with log.open("wb") as out:
            command = java(self.conf, name, "-format", "-nonInteractive")
            subprocess.run(command, check=True, stdout=out, stderr=subprocess.STDOUT)
        try:
            namenode = Daemon("NameNode", java(self.conf, name), log)
            self._stack.enter_context(namenode).wait(namenode.listens(self._http))
            command = java(self.conf, "hdfs.server.datanode.DataNode")
            self.datanode = Daemon("DataNode", command, self._folder / "datanode.log")
            self._stack.enter_context(self.datanode).wait(self._is_ready)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def _is_ready(self) -> bool:
        query = "Hadoop:service=NameNode,name=FSNamesystemState"
        answer = send("GET", f"http://{LOOPBACK}:{self._http}/jmx?qry={query}")
        state = json.loads(answer)["beans"]
        # a DataNode that has only just registered has no room to offer yet
        return bool(state) and state[0]["FSState"] == "Operational" and state[0]["CapacityTotal"]

    def read(self, path: str) -> bytes:
        return self._call("GET", path, "OPEN")

    def write(self, path: str, content: bytes, mode: str = "644") -> None:
        self._call("PUT", path, "CREATE", content, overwrite="true", permission=mode)

    def make(self, path: str, mode: str = "755") -> None:
        self._call("PUT", path, "MKDIRS", permission=mode)

    def remove(self, path: str) -> None:
        self._call("DELETE", path, "DELETE", recursive="true")

    def age(self, path: str, seconds: float) -> None:
        """As if the file had been touched so long ago."""
        then = int(1000 * (time.time() - seconds))
        self._call("PUT", path, "SETTIMES", modificationtime=then, accesstime=-1)

    def exists(self, path: str) -> bool:
        try:
            self._call("GET", path, "GETFILESTATUS")
        except FileNotFoundError:
            return False
        return True

    def walk(self, path: str = "/") -> Iterator[Entry]:
        """All files and folders below, folders before what they hold."""
        answer = json.loads(self._call("GET", path, "LISTSTATUS"))
        for one in answer["FileStatuses"]["FileStatus"]:
            below = f"{path.rstrip('/')}/{one['pathSuffix']}" if one["pathSuffix"] else path
            yield Entry(below, one["type"] == "FILE", one["permission"])
            if one["type"] == "DIRECTORY":
                yield from self.walk(below)

    def blocks(self, path: str) -> set[str]:
        """The names that the blocks of a file have in `data`."""
        answer = json.loads(self._call("GET", path, "GET_BLOCK_LOCATIONS"))
        found = answer["LocatedBlocks"]["locatedBlocks"]
        return {f"blk_{one['block']['blockId']}" for one in found}

    def _call(
        self, verb: str, path: str, operation: str, content: bytes | None = None, **more: Any
    ) -> bytes:
        """WebHDFS, which needs no JVM; a write is sent on to the DataNode by its answer."""
        query = urlencode({"op": operation, "user.name": USER, **more})
        url = f"http://{LOOPBACK}:{self._http}/webhdfs/v1{quote(path)}?{query}"
        if content is not None:
            url = json.loads(send(verb, f"{url}&noredirect=true"))["Location"]
        return send(verb, url, content)
