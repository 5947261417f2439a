"""Needs are answered once, in rounds, all of one kind together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from sparkanon.needs import Known, Need, answered, in_rounds


@dataclass(frozen=True)
class Rows(Need[int]):
    pass


@dataclass(frozen=True)
class Share(Need[float]):
    of: str

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Rows(),)


def test_every_need_comes_once_and_after_those_it_stands_on() -> None:
    wanted = (Share("a"), Rows(), Share("b"), Share("a"))
    assert list(in_rounds(wanted, Known())) == [[Rows()], [Share("a"), Share("b")]]
    assert list(in_rounds(wanted, Known({Rows(): 4}))) == [[Share("a"), Share("b")]]


def test_all_needs_of_a_kind_are_answered_together() -> None:
    calls: list[tuple[str, list[Any]]] = []

    def rows(source: str, needs: Any, known: Known) -> dict[Any, Any]:
        calls.append((source, list(needs)))
        return dict.fromkeys(needs, 4)

    def shares(source: str, needs: Any, known: Known) -> dict[Any, Any]:
        calls.append((source, list(needs)))
        return {need: len(need.of) / known[Rows()] for need in needs}

    known = answered((Share("a"), Share("bc")), {Rows: rows, Share: shares}, "table")
    assert calls == [("table", [Rows()]), ("table", [Share("a"), Share("bc")])]
    assert (known[Rows()], known[Share("a")], known[Share("bc")]) == (4, 0.25, 0.5)
    assert Share("d") not in known
    with pytest.raises(KeyError):
        known[Share("d")]
