"""YARN, on a machine that has no Python and nothing of ours: the archive brings all of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lake
import pytest
from disks import can_hide
from drivers import Driver
from hdfs import Hdfs
from seeds import seed_file
from standalone import REPOSITORY
from yarn import Yarn

pytest_plugins = ["clusters"]
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def yarn(folder: Path, store: Hdfs) -> Iterator[Yarn]:
    if not can_hide():
        pytest.skip("a node without a shared disk needs root, for mount namespaces")
    with Yarn(folder / "yarn", store) as running:
        yield running


@pytest.fixture(scope="module")
def archive(folder: Path, store: Hdfs) -> str:
    """The environment on the store, as `make env.tar.gz` packs it."""
    packed = folder / "env.tar.gz"
    subprocess.run([sys.executable, REPOSITORY / "conf" / "pack.py", packed], check=True)
    store.write("/env.tar.gz", packed.read_bytes())
    packed.unlink()
    return f"{store.url}/env.tar.gz#env"


@pytest.mark.parametrize("mode", ["cluster", "client"])
def test_the_release_is_that_of_local_mode(
    mode: str, yarn: Yarn, archive: str, near: Driver, store: Hdfs, tmp_path: Path
) -> None:
    method = {"release": "hybrid"}
    here = lake.policy(str(near.folder.parent / "people"), str(near.folder), mode, method=method)
    policy = lake.write_policy(near.folder / f"{mode}.yaml", here)
    near.run("anonymize", policy, small_blocks=False).is_ok()  # as the job knows no others
    there = lake.policy("/lake/people", "/yarn", mode, method=method, seed={"file": "seed.txt"})
    store.write(f"/policies/{mode}.yaml", json.dumps(there).encode())
    seed = seed_file(tmp_path)
    job = REPOSITORY / "jobs" / "anonymize.py"
    settings = {"spark.yarn.dist.archives": archive, "spark.yarn.dist.files": seed}
    done = yarn.submit(tmp_path, mode, settings, job, f"{store.url}/policies/{mode}.yaml")
    assert done.returncode == 0, done.stderr[-3000:]
    release = lake.release_on(store, f"/yarn/{mode}/release")
    assert release == lake.release_in(near.folder / mode / "release")
    names = {one.path.rpartition("/")[2] for one in store.walk(f"/yarn/{mode}/runs")}
    assert {"manifest.json", "report.json"} <= names
    assert [one.path for one in store.walk("/yarn") if ".sparkanon" in one.path] == []
    assert list(lake.private_files(yarn.node.files())) == []
