"""Pictures as PNG with nothing but numpy and zlib: lines, dots and plain letters."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]
BLACK: Colour = (30, 30, 30)

# Letters of 5 x 7 dots, a row a pair of hexadecimal digits, the highest of five bits at the left.
_DOTS = """
0 0E11131519110E|1 040C040404040E|2 0E11010204081F|3 1F02040201110E|4 02060A121F0202
5 1F101E0101110E|6 0608101E11110E|7 1F010204080808|8 0E11110E11110E|9 0E11110F01020C
A 0E11111F111111|B 1E11111E11111E|C 0E11101010110E|D 1C12111111121C|E 1F10101E10101F
F 1F10101E101010|G 0E11101713110F|H 1111111F111111|I 0E04040404040E|J 0702020202120C
K 11121418141211|L 1010101010101F|M 111B1515111111|N 11191513111111|O 0E11111111110E
P 1E11111E101010|Q 0E11111115120D|R 1E11111E141211|S 0F10100E01011E|T 1F040404040404
U 1111111111110E|V 11111111110A04|W 1111111515150A|X 11110A040A1111|Y 1111110A040404
Z 1F01020408101F|a 00000E010F110F|b 10101619111116|c 00000E1010110E|d 01010D1311110D
e 00000E111F100E|f 0609081C080808|g 000F11110F010E|h 10101619111111|i 04000C0404040E
j 0200060202120C|k 10101214181412|l 0C04040404040E|m 00001A15151111|n 00001619111111
o 00000E1111110E|p 001E11111E1010|q 000F11110F0101|r 00001619101010|s 00000E100E011E
t 08081C08080906|u 0000111111130D|v 00001111110A04|w 0000111115150A|x 0000110A040A11
y 001111110F010E|z 00001F0204081F|. 00000000000C0C|, 000000000C0408|- 0000001F000000
+ 0004041F040400|% 18190204081303|= 00001F001F0000|( 02040808080402|) 08040202020408
: 000C0C000C0C00|/ 00010204081000|_ 0000000000001F|' 0C040800000000
"""
_GLYPHS = {
    item[0]: [int(item[2 + 2 * row : 4 + 2 * row], 16) for row in range(7)]
    for item in _DOTS.strip().replace("\n", "|").split("|")
}
_LOW = "gjpqy,"  # reach below the line


class Canvas:
    """A white picture; coordinates are pixels from the upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self._pixels: npt.NDArray[np.float64] = np.full((height, width, 3), 255.0)

    def line(
        self, start: tuple[float, float], end: tuple[float, float], colour: Colour, width: float
    ) -> None:
        """A line with round ends and smooth edges; with start = end a dot."""
        height, across, _ = self._pixels.shape
        reach = width / 2 + 1
        left, right = sorted((start[0], end[0]))
        top, bottom = sorted((start[1], end[1]))
        x0, x1 = max(int(left - reach), 0), min(int(right + reach) + 2, across)
        y0, y1 = max(int(top - reach), 0), min(int(bottom + reach) + 2, height)
        if x0 >= x1 or y0 >= y1:
            return
        y, x = np.mgrid[y0:y1, x0:x1]
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = dx * dx + dy * dy
        along = ((x - start[0]) * dx + (y - start[1]) * dy) / length if length else 0.0 * x
        along = np.clip(along, 0, 1)
        away = np.hypot(x - start[0] - along * dx, y - start[1] - along * dy)
        cover = np.clip(width / 2 + 0.5 - away, 0, 1)[..., np.newaxis]
        part = self._pixels[y0:y1, x0:x1]
        part += cover * (np.array(colour, dtype=float) - part)

    def text(
        self, x: float, y: float, words: str, anchor: str = "left", colour: Colour = BLACK
    ) -> None:
        """Letters 14 pixels high whose middle is at y; unknown ones are blank."""
        width = 12 * len(words) - 2
        at = int(x - {"left": 0, "middle": width / 2, "right": width}[anchor])
        for letter in words:
            for row, bits in enumerate(_GLYPHS.get(letter, [0] * 7)):
                for bit in range(5):
                    if bits >> (4 - bit) & 1:
                        px, py = at + 2 * bit, int(y) - 7 + 2 * (row + (letter in _LOW))
                        self._pixels[max(py, 0) : py + 2, max(px, 0) : px + 2] = colour
            at += 12

    def png(self) -> bytes:
        height, width, _ = self._pixels.shape
        rows = np.rint(self._pixels).astype(np.uint8).reshape(height, 3 * width)
        raw = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        parts = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
