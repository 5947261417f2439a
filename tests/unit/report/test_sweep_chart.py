"""The map: well-formed, everything on it, nothing outside it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from sparkanon.report.sweep_chart import HEIGHT, WIDTH, Spot, draw, nice_ticks

SVG = "{http://www.w3.org/2000/svg}"
SPOTS = [
    Spot("mdav", "k=3", 10.0, 1 / 3, front=True),
    Spot("mdav", "k=5", 20.0, 0.2, front=True, refused=True),
    Spot("<refined> & more", "k=5", 30.0, 0.2),
]


def drawn(spots: list[Spot]) -> ElementTree.Element:
    return ElementTree.fromstring(draw(spots, x_title="loss <il>", y_title="risk"))


def test_every_cell_the_front_and_the_titles_are_drawn() -> None:
    root = drawn(SPOTS)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"loss <il>", "risk", "mdav", "<refined> & more", "k=3", "Pareto front"} <= set(words)
    assert "hollow: refused by a gate" in words
    cells = [group for group in root.iter(f"{SVG}g") if group.get("class") == "cell"]
    assert len(cells) == 3
    (front,) = (line for line in root.iter(f"{SVG}polyline") if line.get("class") == "front")
    assert len(str(front.get("points")).split()) == 2
    for group in cells:
        x, y = map(float, re.findall(r"[\d.]+", str(group.get("transform"))))
        assert 0 < x < WIDTH
        assert 0 < y < HEIGHT


def test_higher_risk_is_higher_and_more_loss_further_right() -> None:
    cells = [g for g in drawn(SPOTS).iter(f"{SVG}g") if g.get("class") == "cell"]
    places = [tuple(map(float, re.findall(r"[\d.]+", str(g.get("transform"))))) for g in cells]
    assert places[0][0] < places[1][0] < places[2][0]
    assert places[0][1] < places[1][1] == places[2][1]


@pytest.mark.parametrize("spots", [[], [Spot("a", "b", 0.0, 0.0, front=True)]])
def test_nothing_to_compare(spots: list[Spot]) -> None:
    assert drawn(spots).tag == f"{SVG}svg"


def test_ticks_are_round_and_go_beyond_the_values() -> None:
    assert nice_ticks([3.0, 9.0]) == (0, 2, 4, 6, 8, 10)
    assert nice_ticks([0.2, 1 / 3])[-1] > 1 / 3
    assert nice_ticks([]) == pytest.approx((0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2))
    assert nice_ticks([-3.0, 2.0])[0] <= -3.0
