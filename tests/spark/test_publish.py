"""Publication from end to end: permissions, what appears at the output, tables of others."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crashes import long_ago
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.engine import pipeline
from sparkanon.engine.pairs import pairing
from sparkanon.engine.publish import publish
from sparkanon.engine.stores import lease
from sparkanon.engine.stores.listing import FILES, foreign_files
from sparkanon.engine.stores.posix import Posix
from sparkanon.engine.stores.staging import Staging


@pytest.fixture(autouse=True)
def seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLISH_SEED", hashlib.sha256(b"publish").hexdigest())


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    return spark.range(60).selectExpr("cast(id as int) age", "id * id income", "id % 2 side")


@pytest.fixture
def database(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE DATABASE register")
    yield "register"
    spark.sql("DROP DATABASE register CASCADE")


def policy(tmp_path: Path, **sink: Any) -> dict[str, Any]:
    chosen = {"format": "parquet", "path": str(tmp_path / "out")}
    return {
        "columns": {"age": "quasi_identifier", "income": "quasi_identifier", "side": "keep"},
        "output": sink if "name" in sink else chosen | sink,
        "k": 3,
        "method": {"grouping": "mdav"},
        "runs": str(tmp_path / "runs"),
        "seed": {"env": "PUBLISH_SEED"},
    }


# --- permissions


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def modes(folder: Path) -> tuple[set[int], set[int]]:
    """Those of folders, and those of files."""
    found = [(path, path.stat().st_mode) for path in (folder, *folder.rglob("*"))]
    return tuple(
        {stat.S_IMODE(mode) for _, mode in found if stat.S_ISDIR(mode) == folders}
        for folders in (True, False)
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("partition_by", [[], ["side"]])
def test_a_folder_has_the_permissions_that_the_user_gives(
    table: DataFrame, tmp_path: Path, umask: int, form: str, partition_by: list[str]
) -> None:
    sparkanon.anonymize(table, policy(tmp_path, format=form, partition_by=partition_by))
    assert modes(tmp_path / "out") == ({0o750}, {0o640})
    assert foreign_files(Posix(tmp_path / "out")) == []
    assert (tmp_path / "out" / FILES).is_file()


def test_delta_and_tables_stay_readable(
    spark: SparkSession, table: DataFrame, tmp_path: Path, database: str
) -> None:
    mine = os.umask(0)
    os.umask(mine)
    expected = {0o777 & ~mine}, {0o666 & ~mine}
    sparkanon.anonymize(table, policy(tmp_path, format="delta"))
    assert modes(tmp_path / "out") == expected
    for using in ("parquet", "delta"):
        name = f"{database}.{using}"
        sparkanon.anonymize(table, policy(tmp_path, format="table", name=name, using=using))
        place = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").filter("col_name = 'Location'")
        folder = Path(place.collect()[0]["data_type"].removeprefix("file:"))
        assert modes(folder) == expected
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o777 & ~mine


# --- what appears at the output


@pytest.mark.parametrize("by", [[], ["b"]])
def test_csv_that_would_lose_rows_is_refused(
    spark: SparkSession, tmp_path: Path, by: list[str]
) -> None:
    """Spark writes no line for a row whose only cell is null: nine of thirty were gone."""
    table = spark.range(30).selectExpr("nullif(id % 3, 2) as a", "id % 2 as b")
    roles = {"a": "quasi_identifier"} | ({"b": "keep"} if by else {})
    asked = {"columns": roles, "k": 3, "unlisted": "drop", "runs": str(tmp_path / "runs")}
    place = {"format": "csv", "path": str(tmp_path / "out"), "partition_by": by}
    with pytest.raises(
        sparkanon.InputError, match=r"output.format: csv leaves out .* output.options.null"
    ):
        sparkanon.anonymize(table, asked | {"output": place}, spark=spark)
    assert not (tmp_path / "out").exists()
    place |= {"options": {"nullValue": "NA"}}
    made = sparkanon.anonymize(table, asked | {"output": place}, spark=spark)
    assert made.data is not None
    assert made.data.count() == 30
    assert made.data.filter("a is null").count() == 10


def test_a_folder_that_appears_while_the_run_works_stays(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    verify = pipeline.verify

    def meanwhile(*given: Any) -> Any:
        out.mkdir()
        (out / "thesis.txt").write_text("the only copy")
        return verify(*given)

    monkeypatch.setattr(pipeline, "verify", meanwhile)
    with pytest.raises(sparkanon.InputError, match="no release of sparkanon"):
        sparkanon.anonymize(table, policy(tmp_path))
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    assert list(tmp_path.glob(".sparkanon*")) == []


def test_a_file_that_was_added_stops_a_run_before_any_work(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparkanon.anonymize(table, policy(tmp_path))
    (tmp_path / "out" / "README.txt").write_text("how to read this")
    monkeypatch.setattr(pipeline, "gather", lambda *_: pytest.fail("work was done"))
    with pytest.raises(sparkanon.InputError, match=r"holds 1 file .* \(README.txt\)"):
        sparkanon.anonymize(table, policy(tmp_path))
    assert (tmp_path / "out" / "README.txt").is_file()


def test_a_run_whose_staging_was_taken_publishes_nothing(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = pipeline.verify

    def meanwhile(*given: Any) -> Any:
        found = verify(*given)
        (held,) = tmp_path.glob(".sparkanon*[0-9a-f]")  # the other one is the lock
        long_ago(held)
        Staging(Posix(tmp_path / "out")).mend()
        return found

    monkeypatch.setattr(pipeline, "verify", meanwhile)
    for i, sink in enumerate(({"format": "parquet"}, {"format": "csv"}, {"format": "delta"}), 1):
        with pytest.raises(sparkanon.SparkanonError, match="another run took"):
            sparkanon.anonymize(table, policy(tmp_path, **sink))
        assert [path.name for path in tmp_path.iterdir()] == ["runs"]
        assert statuses(tmp_path) == ["failed"] * i


def test_of_two_runs_at_once_the_second_ends_before_any_work(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT", 0.05)
    verify, seen = pipeline.verify, []

    def meanwhile(*given: Any) -> Any:
        if not seen:
            seen.append("first")
            with pytest.raises(sparkanon.InputError, match="another run is about to publish"):
                sparkanon.anonymize(table, policy(tmp_path))
            sparkanon.anonymize(table, policy(tmp_path), dry_run=True)
        return verify(*given)

    monkeypatch.setattr(pipeline, "verify", meanwhile)
    assert sparkanon.anonymize(table, policy(tmp_path)).status == "published"
    assert seen
    assert statuses(tmp_path) == ["published"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "runs"]


# --- whatever can fail fails before the release is out


def statuses(tmp_path: Path) -> list[str]:
    """Of all runs, by manifest and report alike."""
    found = []
    for path in sorted((tmp_path / "runs").glob("*/manifest.json")):
        found.append(json.loads(path.read_text())["status"])
        assert json.loads(path.with_name("report.json").read_text())["status"] == found[-1]
    return found


def test_the_manifest_is_there_before_the_release(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    publish_it = Staging.publish

    def looked(staging: Staging, folder: Path) -> None:
        seen.append((statuses(tmp_path), (tmp_path / "out").exists()))
        publish_it(staging, folder)

    monkeypatch.setattr(Staging, "publish", looked)
    release = sparkanon.anonymize(table, policy(tmp_path))
    assert seen == [(["publishing"], False)]
    assert statuses(tmp_path) == ["published"]
    assert release.manifest_path is not None
    assert "publish" in json.loads(release.manifest_path.read_text())["seconds"]


def test_runs_may_be_a_link_to_what_is_not_there_yet(table: DataFrame, tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to(tmp_path / "deep" / "runs")
    assert sparkanon.anonymize(table, policy(tmp_path)).status == "published"
    assert statuses(tmp_path) == ["published"]


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"runs": "file/runs"}, "runs"),
        ({"runs": "r" * 300}, "runs"),
        ({"private": {"path": "file/pairs"}}, "private.path"),
        ({"audit": {"table": {"path": "file"}}}, "audit.table.path"),
        ({"audit": {"table": {"path": "file/deep", "format": "delta"}}}, "audit.table.path"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    table: DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    where: str,
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipeline, "gather", lambda *_: pytest.fail("work was done"))
    with pytest.raises(sparkanon.InputError, match=f"{where}: cannot write in"):
        sparkanon.anonymize(table, policy(tmp_path) | changes)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_pairing_that_does_not_fit_on_its_disk_stops_the_publication(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = policy(tmp_path) | {"private": {"path": str(tmp_path / "pairs")}}
    sparkanon.anonymize(table, chosen)
    before = {path.name for path in (tmp_path / "out").iterdir()}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pairing.shutil, "copyfile", full)
    with pytest.raises(sparkanon.SparkanonError, match=r"No space left .* nothing was published"):
        sparkanon.anonymize(table, chosen)
    assert {path.name for path in (tmp_path / "out").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "pairs", "runs"]


def test_a_measures_table_that_takes_no_rows_stops_the_publication(
    table: DataFrame, tmp_path: Path
) -> None:
    table.write.format("delta").save(str(tmp_path / "measures"))
    rows = {"audit": {"table": {"path": str(tmp_path / "measures"), "format": "delta"}}}
    with pytest.raises(sparkanon.SparkanonError, match="cannot be appended to") as caught:
        sparkanon.anonymize(table, policy(tmp_path) | rows)
    assert caught.value.exit_code == 1
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".sparkanon*")) == []


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("place", ["runs", "private", "audit"])
def test_no_private_place_lies_in_the_folder_of_a_table(
    spark: SparkSession, table: DataFrame, tmp_path: Path, place: str, there: bool
) -> None:
    folder = tmp_path / "lake"
    spark.sql(f"CREATE DATABASE lake LOCATION '{folder}'")
    try:
        chosen = policy(tmp_path, format="table", name="lake.People")
        if there:
            sparkanon.anonymize(table, chosen)
        inside = str(folder / "people" / "inside")
        private = {
            "runs": {"runs": inside},
            "private": {"private": {"path": inside}},
            "audit": {"audit": {"table": {"path": inside}}},
        }
        with pytest.raises(sparkanon.InputError, match=r"lies inside the folder of lake\.People"):
            sparkanon.anonymize(table, chosen | private[place])
        assert not Path(inside).exists()
    finally:
        spark.sql("DROP DATABASE lake CASCADE")


def test_a_bad_input_does_not_keep_the_old_release_away(
    spark: SparkSession, table: DataFrame, tmp_path: Path
) -> None:
    chosen = policy(tmp_path)
    sparkanon.anonymize(table, chosen)
    left = Staging(Posix(tmp_path / "out")).path
    (left / "new-1").mkdir(parents=True)  # killed between its two renames
    (tmp_path / "out").rename(left / "old")
    long_ago(left)
    gone = {"input": {"format": "parquet", "path": str(tmp_path / "gone")}}
    with pytest.raises(sparkanon.InputError, match="does not exist"):
        sparkanon.anonymize(None, chosen | gone, spark=spark)
    assert (tmp_path / "out" / FILES).is_file()
    assert not left.exists()


# --- tables of others


def names(spark: SparkSession, database: str) -> set[str]:
    listed = spark.sql(f"SHOW TABLES IN {database}").filter("not isTemporary")  # no views
    return {row["tableName"] for row in listed.collect()}


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "_PAUSE", 0.0)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_table_of_somebody_else_is_never_renamed(
    spark: SparkSession,
    table: DataFrame,
    tmp_path: Path,
    database: str,
    dry_run: bool,
    no_wait: None,
) -> None:
    theirs = {"people__old_backup_2025", "people__old_20250101t000000_0123abcd"}
    for name in theirs:
        spark.range(3).write.saveAsTable(f"{database}.{name}")
    chosen = policy(tmp_path, format="table", name=f"{database}.people")
    sparkanon.anonymize(table, chosen, dry_run=dry_run)
    assert names(spark, database) == theirs | (set() if dry_run else {"people"})
    assert all(spark.table(f"{database}.{name}").count() == 3 for name in theirs)


def test_a_table_of_a_killed_run_is_given_back(
    spark: SparkSession, table: DataFrame, tmp_path: Path, database: str, no_wait: None
) -> None:
    chosen = policy(tmp_path, format="table", name=f"{database}.people")
    sparkanon.anonymize(table, chosen)
    old = "people__old_20250101t000000_0123abcd"
    spark.sql(f"ALTER TABLE {database}.people RENAME TO {database}.{old}")
    sparkanon.anonymize(table, chosen, dry_run=True)
    assert names(spark, database) == {old}, "a dry run changes nothing"
    with pytest.raises(sparkanon.GateError):
        sparkanon.anonymize(table, chosen | {"gates": {"max_il": 0.001}})
    assert names(spark, database) == {"people"}
    assert spark.table(f"{database}.people").count() == 60


def test_a_run_between_its_two_renames_is_waited_for(
    spark: SparkSession, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = f"{database}.people__old_20250101t000000_0123abcd"
    spark.range(3).write.saveAsTable(old)
    spark.sql(f"ALTER TABLE {old} SET TBLPROPERTIES ('sparkanon.run_id' = 'x')")

    def sleep(seconds: float) -> None:
        spark.range(5).write.saveAsTable(f"{database}.people")

    monkeypatch.setattr(publish, "sleep", sleep)
    publish._give_back(spark, f"{database}.people")
    assert spark.table(f"{database}.people").count() == 5
    assert spark.table(old).count() == 3


@pytest.mark.parametrize(
    ("using", "when"),
    [
        ("parquet", "while the run works"),
        ("parquet", "at the moment of the rename"),
        ("delta", "while the run works"),  # it renames nothing, and keeps older versions
    ],
)
def test_a_table_that_appears_during_the_run_stays(
    spark: SparkSession,
    table: DataFrame,
    tmp_path: Path,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    using: str,
    when: str,
) -> None:
    name = f"{database}.people"
    at = "check_held" if when == "while the run works" else "_swap_table"
    holder: Any = Staging if at == "check_held" else publish
    original = getattr(holder, at)

    def meanwhile(*given: Any) -> Any:
        spark.range(3).write.format(using).saveAsTable(name)
        return original(*given)

    monkeypatch.setattr(holder, at, meanwhile)
    with pytest.raises(sparkanon.InputError, match="no release of sparkanon"):
        sparkanon.anonymize(table, policy(tmp_path, format="table", name=name, using=using))
    assert names(spark, database) == {"people"}
    assert spark.table(name).count() == 3
