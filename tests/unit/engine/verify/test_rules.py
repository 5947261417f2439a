"""A rule of the policy is broken on the side that the direction of its measure says."""

from __future__ import annotations

import pytest

from sparkanon.engine.verify.constraints import Rule


@pytest.mark.parametrize("measure", ["l_distinct", "l_entropy", "l_recursive"])
def test_diversity_has_a_least_value(measure: str) -> None:
    rule = Rule(measure, "illness", 3.0)
    assert [rule.broken_by(value) for value in (2.9, 3.0, 3.1)] == [True, False, False]


def test_closeness_has_a_largest_value() -> None:
    rule = Rule("t_closeness", "illness", 0.3)
    assert [rule.broken_by(value) for value in (0.2, 0.3, 0.4)] == [False, False, True]
