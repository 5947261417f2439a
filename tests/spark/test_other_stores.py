"""Stores behind Hadoop's file systems, and a default file system that is not this machine's.

`viewfs` shows a local folder under a URL of its own. To sparkanon it is a store like HDFS: it is
reached through Hadoop only, has modes and a rename, and cannot exchange two folders.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from crashes import long_ago
from pyspark.sql import SparkSession
from seeds import seed_text

import sparkanon
from sparkanon.engine.session.hadoop import Hadoop, locate
from sparkanon.engine.stores.lease import LEASE, is_stale
from sparkanon.engine.stores.listing import FILES, MANIFEST, list_files
from sparkanon.engine.stores.lock import HeldError, Lock
from sparkanon.engine.stores.owned import remove
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.errors import InputError, SparkanonError


@dataclass(frozen=True)
class Lake:
    """A store, and the local folder behind it, for looking at it from outside."""

    spark: SparkSession
    url: str
    local: Path

    def at(self, path: str) -> Hadoop:
        place = locate(self.spark, f"{self.url}{path}", "output.path")
        assert isinstance(place, Hadoop)
        return place

    def behind(self, place: Hadoop) -> Path:
        return self.local / place.path.relative_to("/lake")


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[Lake]:
    name = f"lake{secrets.token_hex(4)}"
    (tmp_path / "lake").mkdir()
    settings = {
        f"fs.viewfs.mounttable.{name}.link./lake": f"file://{tmp_path}/lake",
        f"fs.viewfs.mounttable.{name}.homedir": "/lake/home",
    }
    with set_for_a_while(spark, settings):
        yield Lake(spark, f"viewfs://{name}", tmp_path / "lake")


@pytest.fixture
def by_default(lake: Lake) -> Iterator[Lake]:
    """The same store as Spark's default file system."""
    with set_for_a_while(lake.spark, {"fs.defaultFS": f"{lake.url}/"}):
        yield lake


@contextlib.contextmanager
def set_for_a_while(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)


def a_release(lake: Lake, folder: Hadoop, text: str) -> Hadoop:
    folder.mkdir()
    for name in ("part-0.parquet", MANIFEST):
        (folder / name).write_text(text, "utf-8")
    list_files(folder)
    return folder


def content(folder: Path) -> dict[str, str]:
    """The files of a folder, without Hadoop's checksums beside them."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".crc")
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".crc")


# --- paths


def test_a_path_without_a_scheme_belongs_to_the_default_file_system(
    spark: SparkSession, tmp_path: Path, by_default: Lake
) -> None:
    assert locate(spark, "/lake/out", "output.path").url == f"{by_default.url}/lake/out"
    at_home = locate(spark, "runs", "runs")  # of the user
    assert at_home.url == f"{by_default.url}/lake/home/{at_home.parent.name}/runs"
    assert locate(spark, f"file:{tmp_path}", "runs") == Posix(tmp_path)
    assert locate(spark, f"{by_default.url}/lake/a/../b", "runs").url.endswith("/lake/b")


def test_it_is_this_machine_where_nothing_else_is_said(spark: SparkSession) -> None:
    assert locate(spark, "runs", "runs") == Path.cwd() / "runs"


def test_a_store_that_cannot_be_used_is_named_in_words(spark: SparkSession) -> None:
    for path, why in (
        ("nosuch://host/runs", "Spark knows no such store"),
        ("s3a://bucket/runs", "lacks the jars"),
        ("hdfs://nosuchhost.invalid/runs", "its host is not known"),
    ):
        with pytest.raises(InputError, match=f"runs: {path} cannot be used: .*{why}"):
            locate(spark, path, "runs").is_there()


# --- places


def test_a_place_on_a_store_does_what_one_on_a_disk_does(lake: Lake) -> None:
    folder = lake.at("/lake/a/b")
    for place in (folder, Posix(lake.local / "posix")):
        assert not place.is_there()
        place.make_folder()
        with pytest.raises(FileExistsError):
            place.mkdir()
        (place / "one").create(b"first")
        with pytest.raises(FileExistsError):
            (place / "one").create(b"second")
        assert (place / "one").start(3) == "fir"
        (place / "sub").mkdir()
        (place / "sub" / "two").write_text("äöü", "utf-8")
        assert (place / "sub" / "two").start(2) == "äö"
        assert place.sizes() == {"one": 5, "sub/two": 6}
        assert sorted(one.name for one in place.iterdir()) == ["one", "sub"]
        for text in ("old", "new"):
            (place / "deep" / "numbers.json").replace_text(text)
        assert (place / "deep").sizes() == {"numbers.json": 3}
        with pytest.raises(FileExistsError):
            (place / "sub").move(place / "deep")
        (place / "sub").move(place / "moved")
        assert (place / "moved" / "two").is_file()
        assert not (place / "sub").is_there()
        with pytest.raises(OSError, match=r"not empty|failed with IOException"):
            (place / "moved").rmdir()
        assert (place / "moved" / "two").is_file()
        assert place.is_own()
        assert abs(place.now() - (place / "one").touched()) < 30
        with pytest.raises(FileNotFoundError):
            list((place / "no").iterdir())
        with pytest.raises(FileNotFoundError):
            (place / "no").touched()
        assert place.is_inside(place.parent)
        assert not place.parent.is_inside(place)
        place.remove_tree()
        assert not place.is_there()
    assert folder.seen_from(lake.at("/lake/private")) == "../a/b"


def test_what_is_private_is_the_owners_alone(lake: Lake) -> None:
    lake.at("/lake/runs/1/manifest.json").replace_text("{}")
    lake.at("/lake/sweep/sweep.csv").replace_text("k", shown=True)
    private = Staging(lake.at("/lake/out"))
    with private:
        modes = {
            path.relative_to(lake.local).as_posix(): stat.S_IMODE(path.stat().st_mode)
            for path in lake.local.rglob("*")
            if path.suffix != ".crc"
        }
    usual = 0o777 & ~int(lake.spark.conf.get("spark.hadoop.fs.permissions.umask-mode"), 8)
    assert modes == {
        "runs": 0o700,
        "runs/1": 0o700,
        "runs/1/manifest.json": 0o600,
        "sweep": usual,
        "sweep/sweep.csv": usual & 0o666,
        private.path.name: 0o700,
        f"{private.path.name}/{LEASE}": 0o600,
    }


# --- publication


def test_a_release_replaces_nothing_and_an_older_one(lake: Lake) -> None:
    for text in ("first", "second", "third"):
        with Staging(lake.at("/lake/deep/out")) as staging:
            staging.publish(a_release(lake, staging.table, text))
        assert content(lake.local / "deep" / "out")["part-0.parquet"] == text
        assert names(lake.local / "deep") == ["out"]


@pytest.mark.parametrize("when", ["before", "between the two renames"])
def test_what_is_not_ours_stays(lake: Lake, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = lake.local / "out"
    a_release(lake, lake.at("/lake/out"), "old")

    def add(*_: Any) -> bool:
        (out / "thesis.txt").write_text("the only copy")
        return False

    if when == "before":
        add()
    else:
        monkeypatch.setattr(Hadoop, "exchange", add)  # which is asked for just before
    staging = Staging(lake.at("/lake/out"))
    with staging, pytest.raises(InputError, match=r"holds 1 file .* \(thesis.txt\)"):
        staging.publish(a_release(lake, staging.table, "new"))
    assert content(out)["thesis.txt"] == "the only copy"
    assert content(out)["part-0.parquet"] == "old"
    assert names(lake.local) == ["out"]


def test_a_crash_between_the_two_renames_is_mended(lake: Lake) -> None:
    a_release(lake, lake.at("/lake/out"), "the old release")
    dead = Staging(lake.at("/lake/out"))
    a_release(lake, make(dead.path) / "new-", "never seen")
    lake.at("/lake/out").rename(dead.path / "old")
    long_ago(lake.behind(dead.path))
    Staging(lake.at("/lake/out")).mend()
    assert content(lake.local / "out")["part-0.parquet"] == "the old release"
    assert names(lake.local) == ["out"]


def test_a_crash_before_cleaning_up_leaves_the_new_release(lake: Lake) -> None:
    a_release(lake, lake.at("/lake/out"), "the new release")
    dead = Staging(lake.at("/lake/out"))
    a_release(lake, make(dead.path) / "old", "the old release")
    long_ago(lake.behind(dead.path))
    Staging(lake.at("/lake/out")).mend()
    assert content(lake.local / "out")["part-0.parquet"] == "the new release"
    assert names(lake.local) == ["out"]


def make(folder: Hadoop) -> Hadoop:
    folder.mkdir(mode=0o700)
    return folder


def test_a_lease_on_a_store(lake: Lake) -> None:
    out = lake.at("/lake/out")
    with Staging(out) as staging:
        held = lake.behind(staging.path)
        long_ago(held)
        assert is_stale(staging.path)
        staging.check_held()
        assert not is_stale(staging.path), "looking at it renews it"
        long_ago(held)
        Staging(out).mend()
        assert not held.exists()
        with pytest.raises(SparkanonError, match="another run took"):
            staging.check_held()
    assert names(lake.local) == []


def test_a_lock_on_a_store(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    file = lake.at("/lake/lock")
    monkeypatch.setattr("sparkanon.engine.stores.lease.BEAT", 0.02)
    monkeypatch.setattr("sparkanon.engine.stores.lock._LOOK", 0.01)
    with Lock(file), pytest.raises(HeldError):
        Lock(file).__enter__()
    file.create(b"of a dead run")
    long_ago(lake.local / "lock")
    with Lock(file) as lock:
        assert lock.held
    assert names(lake.local) == []


def test_a_private_folder_is_removed_from_a_store(lake: Lake) -> None:
    folder = make(lake.at("/lake/.sparkanon-x"))
    (folder / "part-0").write_text("raw cells", "utf-8")
    remove(folder)
    assert names(lake.local) == []


# --- whole runs, on a default file system that is not this machine's


def policy(lake: Lake, **output: Any) -> dict[str, Any]:
    return {
        "input": {"format": "parquet", "path": "/lake/people"},
        "columns": {"age": "quasi_identifier", "income": "quasi_identifier", "side": "keep"},
        "output": {"path": "/lake/deep/out"} | output,
        "k": 3,
        "method": {"grouping": "mdav"},
        "seed": {"env": "STORE_SEED"},
        "audit": {"table": {"path": "/lake/measures"}, "take": ["il"]},
        "private": {"path": "/lake/pairs"},
        "runs": "/lake/runs",
    }


@pytest.mark.parametrize(
    ("form", "release", "staging"),
    [
        ("delta", "centroid", "on this machine"),
        ("parquet", "permute", "beside the output"),
        ("csv", "centroid", "beside the output"),
    ],
)
def test_runs_on_another_default_file_system(
    by_default: Lake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    release: str,
    staging: str,
) -> None:
    monkeypatch.setenv("STORE_SEED", seed_text())
    spark, local = by_default.spark, by_default.local
    people = spark.range(60).selectExpr("cast(id as int) age", "id * id income", "id % 2 side")
    people.write.parquet("/lake/people")
    chosen = policy(by_default, format=form)
    chosen["method"] = {"grouping": "mdav", "release": release}
    if staging == "on this machine":
        chosen["output"]["staging"] = f"file://{tmp_path}/staging"
    for _ in range(2):  # the second run replaces what the first one has published
        made = sparkanon.anonymize(None, chosen, spark=spark)
    assert made.status == "published"
    assert made.data.count() == 60
    reader = spark.read.option("header", True).format(form)
    assert reader.load("/lake/deep/out").count() == 60
    assert names(local / "deep") == ["out"]
    assert names(local) == ["deep", "measures", "pairs", "people", "runs"]
    assert stat.S_IMODE((local / "pairs").stat().st_mode) == 0o700
    manifests = sorted((local / "runs").glob("*/manifest.json"))
    assert [json.loads(path.read_text())["status"] for path in manifests] == ["published"] * 2
    assert str(made.manifest_path).startswith(by_default.url)
    assert spark.read.parquet("/lake/measures").select("run_id").distinct().count() == 2
    audit = sparkanon.audit(None, None, chosen, spark=spark)
    assert audit.status == "ok"
    assert (local / "runs" / audit.run_id / "report.json").is_file()
    assert not {"lake", "viewfs:"} & set(os.listdir()), "nothing is written on this machine"
    assert FILES in names(local / "deep" / "out") or form == "delta"


def test_the_commands_take_urls(lake: Lake, tmp_path: Path, command: Any) -> None:
    spark, url = lake.spark, lake.url
    people = spark.range(60).selectExpr("cast(id as int) age", "id * id income", "id % 2 side")
    people.write.parquet(f"{url}/lake/people")
    chosen = policy(lake, format="delta", staging=f"file://{tmp_path}/staging") | {
        "seed": {"env": "CLI_SEED"}
    }
    text = json.dumps(chosen).replace('"/lake/', f'"{url}/lake/')
    chosen = json.loads(text)
    (lake.local / "policy.yaml").write_text(json.dumps(chosen))
    at = f"{url}/lake/policy.yaml"
    for words in (["validate", at], ["anonymize", at], ["audit", at]):
        found = command(tmp_path, *words, "--json")
        assert found.returncode == 0, found.stderr
    run = json.loads(found.stdout)["report"].rpartition("/")[0]
    assert run.startswith(f"{url}/lake/runs/")
    grid = ("--k", "3,4", "--out", f"{url}/lake/map", "--json")
    for kept in (False, True):
        found = command(tmp_path, "sweep", at, *grid)
        assert [cell["kept"] for cell in json.loads(found.stdout)["cells"]] == [kept] * 2
    found = command(tmp_path, "report", run, "--sweep", f"{url}/lake/map", "--json")
    assert json.loads(found.stdout)["report"] == f"{run}/report.html"
    assert "<html" in (lake.local / run.removeprefix(f"{url}/lake/") / "report.html").read_text()
    pair = ("--original", f"{url}/lake/people", "--release", f"{url}/lake/deep/out")
    found = command(tmp_path, "audit", "--roles", at, *pair, "--json")
    assert json.loads(found.stdout)["status"] == "ok", found.stdout
    found = command(tmp_path, "profile", f"{url}/lake/deep/out", "--json")
    assert "format: delta" in json.loads(found.stdout)["policy"]
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("lake", "state")] == [
        "staging"
    ]
    assert list((tmp_path / "staging").iterdir()) == []


@pytest.mark.parametrize("path", ["nosuch://host/p.yaml", "viewfs://{lake}/lake/no.yaml"])
def test_a_policy_that_cannot_be_read_is_an_input_error(
    lake: Lake, tmp_path: Path, command: Any, path: str
) -> None:
    path = path.replace("viewfs://{lake}", lake.url)
    found = command(tmp_path, "anonymize", path, "--json")
    assert found.returncode == 2
    (problem,) = json.loads(found.stdout)["errors"]
    assert path in problem["message"]
    assert "Spark knows no such store" in str(problem) or "No such file" in str(problem)
