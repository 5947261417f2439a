"""A release as anybody reads it: files, footers and the text that lies beside the rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Released:
    """The rows, with the types they were written with (text in CSV), and all that is not rows."""

    rows: pa.Table
    texts: str  # JSON and footers: no cell stands there
    raw: bytes  # every byte of every file, for what may be nowhere
    exact: bool  # whether cells have types

    def cells(self, name: str) -> list[Any]:
        """Comparable cells: moments as microseconds, lists and structs as text, no -0.0."""
        return comparable(self.rows.column(name))


def comparable(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    found = column.to_pylist()
    if pa.types.is_nested(column.type):
        return [repr(cell) for cell in found]
    if pa.types.is_floating(column.type):
        return [cell if cell is None else cell + 0.0 for cell in found]
    return list(found)


def read_folder(folder: Path, form: str) -> Released:
    """A folder of Parquet or CSV files; columns that stand in folder names come as text."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    texts = "".join(path.read_text() for path in files if path.suffix == ".json")
    raw = b"".join(path.read_bytes() for path in files)
    tables = []
    for path in files:
        if path.name.startswith(("_", ".")) or "_delta_log" in path.parts:
            continue
        if form == "csv":
            one = _csv(path)
        else:
            part = _parquet(path)
            texts += str(part.metadata.metadata)
            one = part.read()
        tables.append(_with_folders(one, path.relative_to(folder).parts[:-1]))
    return Released(pa.concat_tables(tables), texts, raw, exact=form != "csv")


def read_delta(folder: Path) -> Released:
    """The live files of a Delta table, by its log."""
    import json

    live: dict[str, bool] = {}
    for commit in sorted((folder / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            for action in ("add", "remove"):
                if found := json.loads(line).get(action):
                    live[unquote(found["path"])] = action == "add"
    tables = [_parquet(folder / path).read() for path, alive in live.items() if alive]
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    texts = "".join(path.read_text() for path in files if path.suffix == ".json")
    raw = b"".join(path.read_bytes() for path in files)
    return Released(pa.concat_tables(tables), texts, raw, exact=True)


def _parquet(path: Path) -> pq.ParquetFile:
    """Spark writes moments as INT96, and nanoseconds would end in the year 2262."""
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def _csv(path: Path) -> pa.Table:
    parse = pc.ParseOptions(newlines_in_values=True, escape_char="\\")
    names = pc.read_csv(path, parse_options=parse).column_names
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    return pc.read_csv(path, parse_options=parse, convert_options=convert)


def _with_folders(table: pa.Table, folders: tuple[str, ...]) -> pa.Table:
    for folder in folders:
        name, _, value = folder.partition("=")
        cell = None if value == NULL_FOLDER else unquote(value)
        cells = pa.array([cell] * table.num_rows, pa.string())
        table = table.append_column(unquote(name), cells)
    return table


def typed_like(released: Released, types: dict[str, pa.DataType]) -> Released:
    """Columns that stood in folder names, cast to the types they have."""
    table = released.rows
    for i, name in enumerate(table.column_names):
        cells = table.column(name)
        if released.exact and pa.types.is_string(cells.type) and name in types:
            table = table.set_column(i, name, cells.cast(types[name]))
    return Released(table, released.texts, released.raw, released.exact)
