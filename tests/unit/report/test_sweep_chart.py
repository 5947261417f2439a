"""The map: well-formed, everything on it, nothing outside it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from sparkanon.report.svg import axis
from sparkanon.report.sweep_chart import HEIGHT, WIDTH, Spot, draw

SVG = "{http://www.w3.org/2000/svg}"
SPOTS = [
    Spot("mdav", "k=3", 10.0, 1 / 3, front=True),
    Spot("mdav", "k=5", 20.0, 0.2, front=True, refused=True),
    Spot("<refined> & more", "k=5", 30.0, 0.2),
]


def drawn(spots: list[Spot]) -> ElementTree.Element:
    return ElementTree.fromstring(draw(spots, x_title="loss <il>", y_title="risk"))


def groups(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [g for g in root.iter(f"{SVG}g") if str(g.get("class")).startswith("cell")]


def places(cells: list[ElementTree.Element]) -> list[tuple[float, float]]:
    """The middle of every mark: a circle, or a polygon around it."""
    found = []
    for cell in cells:
        (circle, polygon) = cell.find(f"{SVG}circle"), cell.find(f"{SVG}polygon")
        if circle is not None:
            found.append((float(str(circle.get("cx"))), float(str(circle.get("cy")))))
        else:
            assert polygon is not None
            corners = [list(map(float, c.split(","))) for c in str(polygon.get("points")).split()]
            xs, ys = zip(*corners, strict=True)
            found.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    return found


def test_every_cell_the_front_and_the_titles_are_drawn() -> None:
    root = drawn(SPOTS)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"loss <il>", "risk", "mdav", "<refined> & more", "k=3", "Pareto front"} <= set(words)
    assert "hollow: refused by a gate" in words
    cells = groups(root)
    assert [group.get("class") for group in cells] == ["cell", "cell hollow", "cell"]
    (front,) = (path for path in root.iter(f"{SVG}path") if path.get("class") == "front")
    ends = re.findall(r"[ML]([\d.]+) ([\d.]+)", str(front.get("d")))
    for end, place in zip(ends, places(cells)[:2], strict=True):
        assert tuple(map(float, end)) == pytest.approx(place, abs=0.1)
    for x, y in places(cells):
        assert 0 < x < WIDTH
        assert 0 < y < HEIGHT


def test_higher_risk_is_higher_and_more_loss_further_right() -> None:
    (one, two, three) = places(groups(drawn(SPOTS)))
    assert one[0] < two[0] < three[0]
    assert one[1] < two[1]
    assert two[1] == three[1]


def test_nothing_to_compare() -> None:
    words = [text.text for text in drawn([]).iter(f"{SVG}text")]
    assert "no cell has both measures" in words
    alone = drawn([Spot("a", "b", 0.0, 0.0, front=True)])
    assert len(groups(alone)) == 1
    assert not [path for path in alone.iter(f"{SVG}path") if path.get("class") == "front"]


def test_more_methods_than_marks_repeat_them() -> None:
    root = drawn([Spot(f"m{i}", f"k={i}", i, i) for i in range(9)])
    assert len(groups(root)) == 9


def test_ticks_are_round_and_hold_the_values() -> None:
    assert axis([3.0, 9.0], 0, 1).ticks == (0, 2.5, 5, 7.5, 10)
    assert axis([0.2, 1 / 3], 0, 1).ticks[-1] > 1 / 3
    assert axis([], 0, 1).ticks == pytest.approx((0.0, 0.25, 0.5, 0.75, 1.0))
    assert axis([-3.0, 2.0], 0, 1).ticks[0] <= -3.0
    assert axis([3.0, 9.0], 100, 200)(5) == 150
