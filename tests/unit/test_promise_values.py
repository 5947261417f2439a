"""Promises as values: what the engine acts on, and what people read."""

from __future__ import annotations

import json

import pytest

from sparkanon import promises
from sparkanon.catalogue import GATES, RISK_GATES
from sparkanon.engine.verify.verify import VERIFIERS, classes_of
from sparkanon.promises import Classes, DrawnFrom, MadeFrom, Measured, Promise, Rows

EACH: list[Promise] = [
    Classes(columns=("a", "b"), k=5),
    DrawnFrom(columns=("a", "b", "c"), k=5, blocks=(("a", "c"), ("b",))),
    MadeFrom(columns=("a", "b"), k=5),
    Measured(columns=("a", "b"), why="noise was added"),
]


def test_every_promise_has_a_function_that_verifies_it() -> None:
    kinds = {p for p in vars(promises).values() if isinstance(p, type) and issubclass(p, Promise)}
    assert set(VERIFIERS) == kinds - {Promise} == {type(one) for one in EACH}


@pytest.mark.parametrize("promise", EACH, ids=lambda one: one.kind)
def test_a_promise_is_json_and_says_whom_it_is_about(promise: Promise) -> None:
    reported = json.loads(json.dumps(promise.to_dict()))
    assert reported.keys() >= {"kind", "columns", "k", "rows", "counted", "text"}
    assert reported["columns"] == list(promise.columns)
    assert reported["rows"] == "same"


def test_groups_that_do_not_show_are_distinguished_by_their_numbers() -> None:
    assert [one.numbered for one in EACH] == [False, True, True, False]
    assert [one.counted for one in EACH] == ["class", "group", "group", "class"]
    assert classes_of(EACH[0]) == ["`a`", "`b`"]
    assert classes_of(EACH[1]) == ["__sparkanon_group"]
    assert EACH[1].units == (("a", "c"), ("b",))
    assert EACH[0].units == EACH[2].units == EACH[3].units == ()


def test_measured_guarantees_nothing_and_says_so() -> None:
    measured = EACH[-1]
    assert measured.k is None
    assert not measured.guaranteed
    assert measured.text.startswith("Nothing is guaranteed: noise was added.")
    assert all(one.guaranteed for one in EACH[:-1])


@pytest.mark.parametrize(
    ("rows", "allowed"),
    [(Rows.SAME, [10]), (Rows.FEWER, [1, 9, 10]), (Rows.NEW, [1, 9, 10, 11, 500])],
)
def test_how_many_rows_may_be_published(rows: Rows, allowed: list[int]) -> None:
    assert [n for n in (0, 1, 9, 10, 11, 500) if rows.allow(10, n)] == allowed


def test_gates_on_a_risk_are_gates_in_the_direction_that_protects() -> None:
    gates = set(RISK_GATES)
    assert gates <= set(GATES)
    assert {"min_k", "max_uniqueness", "max_linkage_masked_to_original", "min_l_distinct",
            "max_t_closeness", "max_interval_sd"} <= gates  # fmt: skip
    for vacuous in ("max_k", "max_il", "min_uniqueness", "max_linkage_baseline"):
        assert vacuous not in gates
