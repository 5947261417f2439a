"""The two ways of staging: one release, whoever writes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from seeds import seed_file

import sparkanon
from sparkanon.blocks import Below, Leaf, Node, Tree
from sparkanon.engine.cut import cuttings
from sparkanon.engine.mask import stage
from sparkanon.engine.mask.by_files import ByFiles
from sparkanon.engine.mask.by_spark import BySpark
from sparkanon.engine.mask.shared import check_shared
from sparkanon.engine.mask.stager import Target
from sparkanon.engine.pipeline import Release
from sparkanon.engine.publish import publish
from sparkanon.engine.stores.posix import Posix
from sparkanon.errors import InputError
from sparkanon.groupings import Mdav, Refined
from sparkanon.policy.model import Sink

QUASI = "quasi_identifier"
ROWS = 600
COLUMNS = {
    "byte": QUASI,
    "single": QUASI,
    "money": QUASI,
    "town.of birth": QUASI,
    "day": QUASI,
    "at": QUASI,
    "local": QUASI,
    "flag": QUASI,
    "illness": "sensitive",
    **dict.fromkeys(("span", "list", "nested", "map", "bytes", "void", "x0", "vector"), "keep"),
}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    vector = F.udf(lambda i: Vectors.dense([float(i), 1.0]), VectorUDT())
    return (
        spark.range(ROWS)
        .selectExpr(
            "cast(id % 100 as byte) as byte",
            "cast(id / 7 as float) as single",
            "if(id % 50 = 0, null, cast(id * 1.25 as decimal(12, 3))) as money",
            "elt(1 + id % 5, 'ä', 'b c', '', 'd', null) as `town.of birth`",
            "date_add(date'1969-01-01', int(id)) as day",
            "timestamp_micros(id * 987654321 - 10000000) as at",
            "timestamp_ntz'0001-01-01 00:00:00' + make_dt_interval(int(id)) as local",
            "id % 3 = 0 as flag",
            "concat('i', string(id % 7 % 4)) as illness",
            "make_dt_interval(0, int(id % 9)) as span",
            "array(id, null) as list",
            "named_struct('a.b', id, 'c', if(id % 2 = 0, null, 'x')) as nested",
            "map(string(id), id) as map",
            "cast(string(id) as binary) as bytes",
            "null as void",
            "id as x0",
        )
        .withColumn("vector", vector("x0"))
        .cache()
    )


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for grouping in (Refined, Mdav):
        monkeypatch.setattr(grouping, "block_rows", 100)


def released(
    table: DataFrame, folder: Path, by: str, columns: Any = None, **changes: Any
) -> Release:
    policy = {
        "columns": COLUMNS if columns is None else columns,
        "output": {"format": "parquet", "path": str(folder / by), "stage_by": by},
        "k": 3,
        "method": {"space": "gower", "grouping": "mdav"},
        "private": {"path": str(folder / f"pairs of {by}")},
        "runs": str(folder / "runs"),
        "seed": {"file": seed_file(folder)},
    }
    return sparkanon.anonymize(table, policy | changes)


def rows_of(data: DataFrame | None) -> Counter[str]:
    assert data is not None
    return Counter(str(row) for row in data.collect())


def figures(made: Release) -> dict[tuple[str, str | None], float | None]:
    return {(one.measure, one.column): one.value for one in made.measures}


@pytest.mark.parametrize(
    ("release", "grouping", "crosses"),
    [
        ("centroid", "refined", True),
        ("permute", "refined", True),
        ("hybrid", "mdav", False),
        ("generalize", "mdav", False),
    ],
)
def test_one_release(
    table: DataFrame,
    tmp_path: Path,
    small_blocks: None,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    grouping: str,
    crosses: bool,
) -> None:
    monkeypatch.setattr(Refined, "crosses", crosses)
    method = {"space": "gower", "grouping": grouping, "release": release}
    columns = COLUMNS | ({"town.of birth": "keep"} if release == "hybrid" else {})
    audit = {"take": ["linkage_original_to_masked"] if release == "permute" else ["il"]}
    files, spark = (
        released(table, tmp_path, by, columns, k=4, method=method, audit=audit)
        for by in ("files", "spark")
    )
    assert files.manifest["blocks"] == spark.manifest["blocks"] > 3
    assert files.manifest["input"] == spark.manifest["input"]
    assert files.data is not None
    assert spark.data is not None
    assert spark.data.schema == files.data.schema
    assert rows_of(spark.data) == rows_of(files.data)
    assert figures(spark) == pytest.approx(figures(files), rel=1e-12)
    read = table.sparkSession.read.parquet
    one, other = (read(str(tmp_path / f"pairs of {by}")) for by in ("files", "spark"))
    assert rows_of(other.select(one.columns)) == rows_of(one)
    assert list(tmp_path.glob(".sparkanon*")) == []


def test_no_original_is_in_the_files_of_a_release(table: DataFrame, tmp_path: Path) -> None:
    made = released(table, tmp_path, "spark")
    assert made.data is not None
    files = list((tmp_path / "spark").glob("*.parquet"))
    assert {tuple(pq.read_schema(path).names) for path in files} == {tuple(made.data.columns)}


def test_what_is_staged_can_be_published_as_it_is(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "writer", None)  # nothing is written once more
    made = released(table, tmp_path, "spark", private=None)
    assert made.data is not None
    assert made.manifest["rows_out"] == ROWS
    (path,) = (tmp_path / "spark").glob("*.parquet")
    schema = pq.read_schema(path)
    assert schema.names == made.data.columns
    assert [str(schema.field(name).type) for name in ("at", "local")] == [
        "timestamp[us, tz=UTC]",
        "timestamp[us]",
    ]


def test_rows_stand_in_the_order_that_the_seed_gave_them(table: DataFrame, tmp_path: Path) -> None:
    files, spark = (released(table, tmp_path, by, private=None).data for by in ("files", "spark"))
    assert files is not None
    assert spark is not None
    assert [str(row) for row in spark.collect()] == [str(row) for row in files.collect()]


def test_blocks_without_rows_or_with_too_few_are_merged(
    table: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_blocks: None
) -> None:
    few = Node(Below("single", 0.5), Leaf(), Node(Below("single", 40.0), Leaf(), Leaf()))
    tree = Tree(Node(Below("single", -1.0), Leaf(), few))
    monkeypatch.setattr(cuttings, "fit_tree", lambda *_: tree)
    columns = {"single": QUASI, "money": QUASI, "illness": "sensitive"}
    people = table.select(*columns)
    for crosses in (False, True):  # in two rounds, the second tree has the same empty block
        monkeypatch.setattr(Refined, "crosses", crosses)
        method = {"space": "gower", "grouping": "refined"}
        files, spark = (
            released(people, tmp_path, by, columns, k=20, method=method)
            for by in ("files", "spark")
        )
        assert files.manifest["blocks"] == spark.manifest["blocks"] == 2
        assert rows_of(spark.data) == rows_of(files.data)


def test_nothing_is_left_if_no_block_can_be_masked(table: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="even if all records are one group"):
        released(
            table, tmp_path, "spark", constraints={"l_diversity": {"l": 4, "kind": "entropy"}}
        )
    assert not (tmp_path / "spark").exists()
    assert list(tmp_path.glob(".sparkanon*")) == []


def test_a_folder_that_executors_do_not_see_is_refused_before_any_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    check_shared(spark, tmp_path)
    with pytest.raises(InputError, match="do not see the same folder"):
        check_shared(spark, tmp_path / "elsewhere")


def test_no_file_of_a_store_is_written_by_workers() -> None:
    target = Target(None, T.StructType(), (), "hdfs://lake/table")  # type: ignore[arg-type]
    sink = Sink.model_validate({"format": "delta", "path": "out", "stage_by": "files"})
    with pytest.raises(InputError, match=r"output\.stage_by: files wants a folder"):
        stage.stager_for(sink, target)


@pytest.mark.parametrize(
    ("shares", "sink", "chosen"),
    [
        (True, {}, ByFiles),
        (True, {"stage_by": "spark"}, BySpark),
        (False, {}, BySpark),
        (False, {"stage_by": "files"}, ByFiles),
        (False, {"staging": "shared"}, ByFiles),
    ],
)
def test_workers_write_where_they_share_a_folder(
    monkeypatch: pytest.MonkeyPatch, shares: bool, sink: dict[str, Any], chosen: type
) -> None:
    monkeypatch.setattr(stage, "shares_folders", lambda _: shares)
    monkeypatch.setattr(stage, "check_shared", lambda *_: None)
    target = Target(None, T.StructType(), (), Posix("table"))  # type: ignore[arg-type]
    output = Sink.model_validate({"format": "parquet", "path": "out"} | sink)
    assert type(stage.stager_for(output, target)) is chosen
