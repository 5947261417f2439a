"""Limits by hand: which values carry them, and which stay as they were."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from sparkanon.errors import InputError
from sparkanon.needs import Known
from sparkanon.numeric.records import Column, Floats, Scale
from sparkanon.releases import RELEASES, Asked, Grouped, Replaced
from sparkanon.releases.needs import NumberOf, Quantiles
from sparkanon.releases.top_bottom import TopBottom

TEN = np.array([7.0, 1.0, 10.0, 4.0, 2.0, 9.0, 3.0, 8.0, 5.0, 6.0])


def coded(release: TopBottom, known: Known, values: Floats, null: list[int]) -> list[float | None]:
    marks = np.isin(np.arange(len(values)), null)
    column = Column("pay", Scale.NUMERIC, np.where(marks, 0.0, values), marks)
    labels = np.arange(len(values), dtype=np.int32)
    (new,) = release.fit(known).publish((column,), Grouped(labels, np.random.default_rng(0)))
    assert isinstance(new, Replaced)
    found = np.where(new.where, new.values, column.values)
    return [None if gone else float(value) for value, gone in zip(found, marks, strict=True)]


def test_values_up_to_and_from_the_quantiles_are_replaced_by_them() -> None:
    release = TopBottom(share=0.2)
    known = Known({Quantiles(0.2): {"pay": (2.0, 9.0)}})
    expected = [7.0, 2.0, 9.0, 4.0, 2.0, 9.0, 3.0, 8.0, 5.0, 6.0]
    assert coded(release, known, TEN, []) == expected
    expected[3] = None  # not coded to the low limit, though kernels hold a 0 there
    assert coded(release, known, TEN, [3]) == expected


def test_stated_limits_may_lie_between_values_or_have_one_end() -> None:
    release = TopBottom(limits={"pay": {"low": 3.5}})
    (need,) = release.needs()
    assert need == NumberOf("pay", 3.5, "method.release.limits.pay.low")
    found = coded(release, Known({need: 3.5}), TEN, [])
    assert found == [7.0, 3.5, 10.0, 4.0, 3.5, 9.0, 3.5, 8.0, 5.0, 6.0]


def test_stated_limits_come_before_quantiles() -> None:
    release = TopBottom(share=0.1, limits={"pay": {"low": 4, "high": 6}})
    low, high = release.needs()[1:]
    known = Known({Quantiles(0.1): {"pay": (1.0, 10.0), "age": (18.0, 80.0)}, low: 4.0, high: 6.0})
    assert coded(release, known, TEN, []) == [6.0, 4.0, 6.0, 4.0, 4.0, 6.0, 4.0, 6.0, 5.0, 6.0]
    assert release.fit(known).limits == {"pay": (4.0, 6.0), "age": (18.0, 80.0)}


def test_limits_stand_in_no_text_that_could_be_logged() -> None:
    fitted = TopBottom(share=0.1).fit(Known({Quantiles(0.1): {"pay": (4711.0, 9.0)}}))
    assert "4711" not in repr(fitted)


def problems(release: TopBottom, quasi: str = "ab") -> dict[str, str]:
    return {p.path: p.message for p in release.problems(Asked(quasi, None, others=True))}


def test_every_column_needs_limits_and_every_parameter_a_use() -> None:
    assert problems(TopBottom(share=0.1)) == {}
    assert problems(TopBottom(share=0.1, limits={"a": {"low": 1}})) == {}
    assert problems(TopBottom(limits={"a": {"low": 1}, "b": {"high": "x"}})) == {}
    assert problems(TopBottom()) == {"share": "is required: the policy states no limits for a, b"}
    both = {"a": {"low": 1}, "b": {"low": 1}}
    assert problems(TopBottom(limits=both, share=0.1)) == {
        "share": "is not used: every quasi-identifier has limits"
    }
    wrong = {"a": {}, "b": {"low": 2, "high": 1.5}, "c": {"low": 1}}
    assert problems(TopBottom(limits=wrong)) == {
        "limits.a": "must name a low limit, a high one or both",
        "limits.b": "the low limit is above the high one",
        "limits.c": "is no quasi-identifier",
    }


def test_words_are_compared_by_their_places_in_the_column() -> None:
    release = TopBottom(limits={"school": {"low": "university", "high": "none"}})
    low, high = release.needs()
    with pytest.raises(InputError, match=r"limits\.school: the low limit is above the high one"):
        release.fit(Known({low: 3.0, high: 0.0}))


@pytest.mark.parametrize(
    "parameters",
    [
        {"share": 0.0},
        {"share": 0.5},
        {"share": "0.1"},
        {"limits": {"a": {"lowest": 1}}},
        {"limits": {"a": {"low": True}}},
        {"limits": {"a": {"low": float("nan")}}},
        {"limits": {"a": {"high": float("inf")}}},
        {"limits": {"a": {"high": None}}},
    ],
)
def test_limits_are_never_repaired(parameters: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RELEASES.build({"name": "top_bottom"} | parameters)
