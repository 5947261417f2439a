"""Which session a run takes, and that none is started but the private one."""

from __future__ import annotations

from typing import Any

import pytest

from sparkanon.engine.session import session


class NoSpark:
    """A process in which nobody has started Spark; a plain session is an error."""

    _instantiatedSession: Any = None
    builder: Any = None

    @staticmethod
    def getActiveSession() -> None:
        return None


def test_a_session_that_we_start_is_the_private_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`anonymize(None, policy)` from Python started one with scratch that others could read."""
    ours: Any = object()
    monkeypatch.setattr(session, "SparkSession", NoSpark)
    monkeypatch.setattr(session, "get_session", lambda: ours)
    assert session.session_of(None, None) is ours


def test_the_session_of_another_thread_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs: Any = object()
    monkeypatch.setattr(session, "SparkSession", NoSpark)
    monkeypatch.setattr(NoSpark, "_instantiatedSession", theirs)
    monkeypatch.setattr(session, "get_session", lambda: pytest.fail("its settings would change"))
    assert session.session_of(None, None) is theirs
