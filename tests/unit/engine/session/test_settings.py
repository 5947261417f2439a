"""Settings of a session are changed for a step where nobody else works in it, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from sparkanon.engine.session.session import batches_by_rows, many_classes

MOST = "spark.sql.execution.arrow.maxBytesPerBatch"
STARTED = "spark.sparkanon.started"


class Settings(dict[str, str]):
    """What `spark.conf` is, and a list of what was done to it."""

    def __init__(self, **settings: str) -> None:
        super().__init__(settings)
        self.done: list[str] = []

    def set(self, name: str, value: str) -> None:
        self.done.append(name)
        self[name] = value

    def unset(self, name: str) -> None:
        self.done.append(name)
        del self[name]


class Session:
    def __init__(self, settings: dict[str, str]) -> None:
        self.conf = Settings(**settings)


@pytest.mark.parametrize("before", [{}, {MOST: "1000"}])
def test_of_a_session_of_ours(before: dict[str, str]) -> None:
    session: Any = Session({STARTED: "true"} | before)
    with batches_by_rows(session):
        assert session.conf[MOST] == str(2**31 - 1)
    assert session.conf == {STARTED: "true"} | before
    with pytest.raises(MemoryError), many_classes(session):
        raise MemoryError
    assert session.conf == {STARTED: "true"} | before


def test_of_a_session_of_others() -> None:
    session: Any = Session({MOST: "1000"})
    with batches_by_rows(session), many_classes(session):
        assert session.conf == {MOST: "1000"}
    assert session.conf.done == []
