"""What a worker says when it fails: where, never what was in a cell."""

from __future__ import annotations

from typing import Any, NoReturn
from unittest.mock import Mock

import pyarrow as pa
import pytest

from sparkanon.engine.count.passes import _OnExecutors
from sparkanon.engine.count.sensitive import _ClassCounting
from sparkanon.engine.linkage.search import Search
from sparkanon.engine.mask import by_files, by_spark
from sparkanon.engine.sql.names import BLOCK, KEY
from sparkanon.errors import KernelError

CELL = "Zanzibar-4711"


def fail(*_: Any, **__: Any) -> NoReturn:
    raise ValueError(f"could not convert {CELL}")


def failing(kind: type, **parts: Any) -> Any:
    """A worker whose parts all fail on what they are given."""
    made = object.__new__(kind)
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


NAMES = (BLOCK, KEY, "cls", "v", "block", "file")
MASKING = Mock(names=NAMES, block=fail, handed_over=fail)
FILES = failing(by_files.MaskToFiles, masking=MASKING, folder=CELL)


@pytest.mark.parametrize(
    "worker",
    [
        FILES,
        failing(by_files.HandOver, masking=MASKING),
        failing(by_files.TakeOver, mask=FILES),
        failing(by_spark.MaskToRows, masking=MASKING),
        failing(by_spark.HandOver, masking=MASKING),
        failing(Search, _block=fail),
        failing(_ClassCounting, column=Mock(of=fail)),
        failing(_OnExecutors, counting=Mock(count=fail)),
    ],
    ids=lambda worker: f"{type(worker).__module__.rpartition('.')[2]}.{type(worker).__name__}",
)
def test_a_failure_is_reported_by_its_place(worker: Any) -> None:
    batch = pa.RecordBatch.from_pydict(
        {BLOCK: [0], KEY: [1], "cls": [1], "v": [CELL], "block": [0], "file": [CELL]}
    )
    if isinstance(worker, by_files.TakeOver):
        batch = batch.select(["block", "file"]).cast(
            pa.schema({"block": pa.int32(), "file": pa.string()})
        )
    with pytest.raises(KernelError) as caught:
        list(worker(iter([batch])))
    assert CELL not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
