"""The clusters, started when the first test asks for them; nothing here runs in `make test`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lake
import pytest
from disks import can_hide
from drivers import Driver
from hdfs import Hdfs
from standalone import Standalone, settings

_LOCAL = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where logs are kept, and what the driver alone can see."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="session")
def store(folder: Path) -> Iterator[Hdfs]:
    """HDFS with the table in /lake/people."""
    with Hdfs(folder / "hdfs") as running:
        for name, content in lake.files().items():
            running.write(f"/lake/people/{name}", content)
        yield running


@pytest.fixture(scope="session")
def cluster(folder: Path, store: Hdfs) -> Iterator[Standalone]:
    if not can_hide():
        pytest.skip("workers without a shared disk need root, for mount namespaces")
    with Standalone(folder / "standalone", store.conf) as running:
        yield running


@pytest.fixture(scope="session")
def near(folder: Path) -> Iterator[Driver]:
    """sparkanon on this machine, with the same table on its disk."""
    source = folder / "people"
    source.mkdir()
    for name, content in lake.files().items():
        (source / name).write_bytes(content)
    with Driver(folder / "near", _LOCAL) as running:
        yield running


@pytest.fixture(scope="session")
def far(folder: Path, cluster: Standalone, store: Hdfs) -> Iterator[Driver]:
    """sparkanon on the cluster, where the default file system is the store."""
    with Driver(folder / "far", settings(cluster), store.conf) as running:
        yield running
