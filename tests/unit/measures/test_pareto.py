"""The front, by hand."""

from __future__ import annotations

import pytest

from sparkanon.measures.pareto import pareto_front

Point = tuple[float, float] | None


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], ()),
        ([(3.0, 3.0)], (True,)),
        # a staircase, and one inside the corner of it
        ([(1.0, 5.0), (2.0, 3.0), (4.0, 1.0), (3.0, 4.0)], (True, True, True, False)),
        # the same risk for less loss wins, and the other way round
        ([(2.0, 1.0), (3.0, 1.0)], (True, False)),
        ([(2.0, 1.0), (2.0, 0.5)], (False, True)),
        # ties stay together, on the front and off it
        ([(1.0, 1.0), (1.0, 1.0)], (True, True)),
        ([(1.0, 1.0), (2.0, 2.0), (2.0, 2.0)], (True, False, False)),
        # what was not measured neither wins nor beats
        ([None, (1.0, 1.0), None], (False, True, False)),
    ],
)
def test_front(points: list[Point], expected: tuple[bool, ...]) -> None:
    assert pareto_front(points) == expected


def test_order_does_not_matter() -> None:
    points: list[Point] = [(5.0, 1.0), (1.0, 5.0), (3.0, 3.0), (4.0, 4.0), (3.0, 3.0)]
    forward = dict(zip(points, pareto_front(points), strict=True))
    backward = dict(zip(points[::-1], pareto_front(points[::-1]), strict=True))
    assert forward == backward == {(5, 1): True, (1, 5): True, (3, 3): True, (4, 4): False}
