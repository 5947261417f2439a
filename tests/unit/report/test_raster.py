"""Pictures are read back by hand: signature, checksums, pixels."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from sparkanon.report.panels import Panel, draw, ticks
from sparkanon.report.raster import BLACK, Canvas


def pixels(png: bytes) -> np.ndarray:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", png[at + 8 + size : at + 12 + size])
        assert check == zlib.crc32(kind + data)
        parts[kind] = data
        at += 12 + size
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(height, width, 3)


def test_lines_are_where_they_were_drawn_and_clipped_at_the_edge() -> None:
    canvas = Canvas(40, 20)
    canvas.line((5, 10), (30, 10), (255, 0, 0), 3)
    canvas.line((-50, 2), (500, 2), (0, 0, 255), 1)
    canvas.line((100, 100), (200, 200), (0, 255, 0), 3)  # outside
    found = pixels(canvas.png())
    assert found.shape == (20, 40, 3)
    assert (found[9:12, 6:30] == (255, 0, 0)).all()
    assert (found[2] == (0, 0, 255)).all()
    assert (found[14:] == 255).all()


def test_letters_have_their_dots() -> None:
    canvas = Canvas(40, 20)
    canvas.text(2, 9, "T ")
    found = pixels(canvas.png())
    dark = (found == BLACK).all(axis=2)
    assert dark[2:4, 2:12].all()  # the bar
    assert dark[4:16, 6:8].all()  # the stem
    assert dark.sum() == 4 * (5 + 6)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.71, 0.84, [0.75, 0.8]), (3, 47, [10, 20, 30, 40])],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_panels_show_every_series_in_its_colour() -> None:
    flat = {"one": [(2.0, 0.5), (8.0, 0.5)], "two": [(2.0, 0.9), (8.0, 0.1)], "dot": [(4.0, 0.3)]}
    found = pixels(draw([Panel("title", "k", "y", flat)] * 3))
    assert found.shape == (2 * 380 + 34, 2 * 560, 3)
    for colour in ((31, 119, 180), (230, 120, 20), (44, 140, 60)):
        assert (found == colour).all(axis=2).sum() > 100
