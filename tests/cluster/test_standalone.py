"""Workers that share no disk with the driver or with each other; in and out on HDFS only."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import lake
import pytest
from drivers import Driver
from hdfs import Hdfs
from standalone import Standalone

pytest_plugins = ["clusters"]
pytestmark = pytest.mark.cluster

HIGH = {"name": "refined", "effort": "high"}  # a second round, across the borders of blocks
METHODS = {
    "centroid": {"release": "centroid"},
    "permute": {"release": "permute"},
    "hybrid": {"release": "hybrid"},
    "second round": {"release": "permute", "grouping": HIGH},
}
LINKAGE = {"take": ["linkage_masked_to_original"]}
SOURCE = "/lake/people"  # on the default file system


def locally(near: Driver, name: str, **changes: Any) -> Path:
    """The policy's file for a run on this machine, of the same table."""
    root = str(near.folder)
    content = lake.policy(str(near.folder.parent / "people"), root, name, **changes)
    return lake.write_policy(near.folder / f"{name}.yaml", content)


def test_the_workers_share_no_disk(cluster: Standalone, far: Driver, store: Hdfs) -> None:
    """Rows go through a shuffle from one to the other, and to the store."""
    for number, machine in enumerate(cluster.machines):
        assert [path.name for path in machine.disk.glob("worker*")] == [f"worker{number}"]
        looked = subprocess.run(
            machine.inside(["ls", store.data]), capture_output=True, check=False
        )
        assert looked.returncode != 0, "it sees the disk of the store"
    query = f"SELECT * FROM parquet.`{SOURCE}` DISTRIBUTE BY name"
    far.sql(f"INSERT OVERWRITE DIRECTORY '/plain' USING parquet {query}")
    assert lake.release_on(store, "/plain") == lake.rows_of(lake.files().values())


@pytest.mark.parametrize("name", METHODS)
def test_the_release_is_that_of_local_mode(
    name: str, near: Driver, far: Driver, store: Hdfs
) -> None:
    near.run("anonymize", locally(near, name, method=METHODS[name])).is_ok()
    there = lake.policy(store.url + SOURCE, f"{store.url}/out", name, method=METHODS[name])
    far.run("anonymize", lake.write_policy(far.folder / f"{name}.yaml", there)).is_ok()
    release = lake.release_on(store, f"/out/{name}/release")
    assert release.total() == lake.ROWS
    assert release == lake.release_in(near.folder / name / "release")
    assert not [one.path for one in store.walk("/out") if ".sparkanon" in one.path]


def test_audit_sweep_and_profile_say_what_they_say_locally(
    near: Driver, far: Driver, store: Hdfs
) -> None:
    here = locally(
        near, "audited", audit=LINKAGE, private={"path": str(near.folder / "audited" / "pairs")}
    )
    pairs = {"path": f"{store.url}/out/audited/pairs"}
    there = lake.policy(SOURCE, "/out", "audited", audit=LINKAGE, private=pairs)
    remote = lake.write_policy(far.folder / "audited.yaml", there)
    said = []
    for driver, policy, source, out in (
        (near, here, near.folder.parent / "people", near.folder / "swept"),
        (far, remote, SOURCE, "/out/swept"),
    ):
        driver.run("anonymize", policy).is_ok()
        audited = json.loads(driver.run("audit", policy, "--json").is_ok().out)
        grid = ("--k", "3,10", "--release", "centroid,permute", "--out", out, "--json")
        swept = json.loads(driver.run("sweep", policy, *grid).is_ok().out)
        profiled = json.loads(driver.run("profile", source, "--json").is_ok().out)
        cells = [(one["label"], one["status"], one["measures"]) for one in swept["cells"]]
        said.append((audited["measures"], cells, profiled["columns"]))
    assert said[0] == said[1]
    modes = {one.path: one.mode for one in store.walk("/out/audited")}
    assert modes["/out/audited/pairs"] == modes["/out/audited/runs"] == "700"


def test_nothing_private_is_left_on_any_disk(cluster: Standalone, far: Driver) -> None:
    """After all of the above; and the search finds what is there."""
    for machine in cluster.machines:
        assert list(lake.private_files(machine.files())) == []
        planted = machine.disk / "planted"
        planted.write_bytes(lake.files()["part-0.parquet"])
        assert list(lake.private_files(machine.files())) == [planted]
        planted.unlink()
    assert list(lake.private_files(far.folder.rglob("*"))) == []
