"""The table of these tests, the policies, and the search for what must not be left.

Every row can be found by content: its name begins with a word, and the lowest five bytes of its
numbers are always the same. That leaves a number the 12 highest bits of its fraction.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hdfs import Hdfs

ROWS = 2_000  # five blocks
WORD = b"nobody-sees-"
BYTES = bytes.fromhex("5ea1ed0ff5")
COLUMNS = {
    "name": "identifier",
    "age": "quasi_identifier",
    "income": "quasi_identifier",
    "height_cm": "quasi_identifier",
    "diagnosis": "sensitive",
}


def table(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(14)
    age = rng.integers(18, 90, rows)
    return pa.table(
        {
            "name": [f"{WORD.decode()}{i}" for i in range(rows)],
            "age": pa.array(age, pa.int32()),
            "income": _marked(np.exp(rng.normal(10 + age / 90, 0.5))),
            "height_cm": _marked(rng.normal(172, 9, rows)),
            "diagnosis": rng.choice(["flu", "cold", "asthma", "none"], rows),
        }
    )


def _marked(values: np.ndarray) -> np.ndarray:
    read = np.frombuffer(values.astype("<f8").tobytes(), np.uint8).reshape(-1, 8).copy()
    read[:, :5] = np.frombuffer(BYTES, np.uint8)
    return read.reshape(-1).view("<f8")


def files(parts: int = 4) -> dict[str, bytes]:
    """The table as Parquet files."""
    rows, found = table(), {}
    for i in range(parts):
        out = io.BytesIO()
        part = rows.slice(i * ROWS // parts, ROWS // parts)
        pq.write_table(part, out, compression="none", use_dictionary=False)
        found[f"part-{i}.parquet"] = out.getvalue()
    return found


def policy(source: str, root: str, name: str, **changes: Any) -> dict[str, Any]:
    """From a folder to a release below `root`, and everything that goes with it."""
    return {
        "input": {"format": "parquet", "path": source},
        "output": {"format": "parquet", "path": f"{root}/{name}/release"},
        "columns": COLUMNS,
        "k": 5,
        "seed": {"env": "SPARKANON_SEED"},
        "runs": f"{root}/{name}/runs",
    } | changes


def write_policy(path: Path, content: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))  # which is YAML as well
    return path


Rows = Counter[tuple[Any, ...]]


def rows_of(parts: Iterable[bytes]) -> Rows:
    """The rows of Parquet files as a multiset."""
    read = (pq.read_table(io.BytesIO(part)) for part in parts)
    return Counter(row for part in read for row in zip(*part.to_pydict().values(), strict=True))


def release_in(folder: Path) -> Rows:
    return rows_of(path.read_bytes() for path in sorted(folder.glob("*.parquet")))


def release_on(store: Hdfs, path: str) -> Rows:
    """No rows where there is no folder."""
    if not store.exists(path):
        return rows_of([])
    found = [one.path for one in store.walk(path) if one.path.endswith(".parquet")]
    return rows_of(map(store.read, found))


def stray_blocks(store: Hdfs) -> list[Path]:
    """Blocks on the DataNode's disk with rows that stand in no table, release or pairing."""
    shown = [one.path for one in store.walk() if one.is_file and _may_hold_rows(one.path)]
    known = {block for path in shown for block in store.blocks(path)}
    found = list(private_files(store.data.rglob("blk_*")))
    assert any(path.name in known for path in found), "the search does not find the table"
    return [path for path in found if path.name not in known]


def _may_hold_rows(path: str) -> bool:
    if ".sparkanon" in path:
        return False
    return path.startswith(("/lake/", "/plain/")) or "/release/" in path or "/pairs/" in path


def is_private(content: bytes) -> bool:
    """Whether a row of the table stands in it, or a part of one."""
    return WORD in content or BYTES in content


def private_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        try:
            if path.is_file() and is_private(path.read_bytes()):
                yield path
        except FileNotFoundError:  # a file of a process that just ended
            continue
