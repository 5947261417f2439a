"""Delta in and out over s3a, against a server that speaks S3."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import lake
import pytest
from daemons import LOOPBACK, Daemon, free_ports
from drivers import Driver
from web import send

pytest_plugins = ["clusters"]
pytestmark = pytest.mark.s3
PACKAGES = (
    f"io.delta:delta-spark_4.2_2.13:{version('delta-spark')},org.apache.hadoop:hadoop-aws:3.5.0"
)


@pytest.fixture(scope="module")
def s3(folder: Path) -> Iterator[str]:
    """The address of a server with a bucket `lake`, and the table in it as Parquet files."""
    (port,) = free_ports(1)
    address = f"http://{LOOPBACK}:{port}"
    command = [os.environ["MOTO_SERVER"], "-H", LOOPBACK, "-p", str(port)]
    with Daemon("moto", command, folder / "moto.log") as server:
        server.wait(server.listens(port))
        files = {f"/raw/{name}": content for name, content in lake.files().items()}
        for path, content in {"": b"", **files}.items():
            send("PUT", f"{address}/lake{path}", content)
        yield address


@pytest.fixture(scope="module")
def on_s3(folder: Path, s3: str) -> Iterator[Driver]:
    s3a = {
        "endpoint": s3,
        "endpoint.region": "eu-west-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": "nobody",
        "secret.key": "nothing",
    }
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.jars.packages": PACKAGES,
    }
    settings |= {f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()}
    with Driver(folder / "s3", settings, delta=True) as running:
        running.sql(
            "CREATE TABLE delta.`s3a://lake/people` USING delta AS "
            "SELECT * FROM parquet.`s3a://lake/raw`"
        )
        yield running


def test_the_release_is_that_of_local_mode(near: Driver, on_s3: Driver) -> None:
    source = str(near.folder.parent / "people")
    here = lake.policy(source, str(near.folder), "s3", method={"release": "permute"})
    near.run("anonymize", lake.write_policy(near.folder / "s3.yaml", here)).is_ok()
    there = here | {
        "input": {"format": "delta", "path": "s3a://lake/people"},
        "output": {
            "format": "delta",
            "path": "s3a://lake/out/release",
            "staging": "s3a://lake/staging",
        },
        "runs": "s3a://lake/out/runs",
    }
    policy = lake.write_policy(on_s3.folder / "s3.yaml", there)
    for _ in range(2):  # the second one replaces the first
        on_s3.run("anonymize", policy).is_ok()
        rows = on_s3.sql("SELECT * FROM delta.`s3a://lake/out/release`")
        assert Counter(map(tuple, rows)) == lake.release_in(near.folder / "s3" / "release")


def test_a_folder_there_is_refused(on_s3: Driver) -> None:
    """Folders of an object store cannot be replaced in one step."""
    content = lake.policy("s3a://lake/raw", "s3a://lake", "folder")
    done = on_s3.run("anonymize", lake.write_policy(on_s3.folder / "folder.yaml", content))
    assert done.code == 2
    assert "delta" in done.err.lower()
