"""What blocks report, as numbers that Spark adds up while their rows pass by.

A list of all reports would grow with the table; sums do not. They have to be exact, because Spark
adds in any order; so errors are counted in whole multiples of a small unit.

Spark hands what it observes to every listener of the session, and the sums hold a hash of all
rows, by which somebody who knows all but one could try out the last. So each block adds random
numbers to its own, and the driver, which knows the blocks, takes them away again.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from sparkanon.engine.mask.masking import BlockFacts
from sparkanon.engine.sql.names import FACTS
from sparkanon.numeric.records import Floats
from sparkanon.numeric.statistics import ColumnStatistics

NUMBER = pa.decimal128(38, 0)
NUMBERS = T.ArrayType(T.DecimalType(38, 0))
Report = Sequence[int | None]
_FIRST, _LAST, _UNDONE, _XOR, _SUM = range(5)  # then the errors
_BITS = 2**15  # that one bitmap of Spark has
_FINE = 60  # an error is counted to 2^-60 of all errors that a column could have
_PAD = 12  # bytes of a random number: so many more than a sum has that it hides it


@dataclass(frozen=True)
class Sums:
    """Packs the facts of blocks into lists of numbers, and unpacks what Spark added up."""

    blocks: int  # of the first round
    last: int  # of the last round, which is the first one if there is no other
    units: tuple[int | None, ...]  # by column the power of two that is one; None: no errors count
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, statistics: Sequence[ColumnStatistics], blocks: int, last: int) -> Sums:
        return cls(blocks, last, tuple(map(_unit, statistics)), secrets.token_bytes(32))

    def handed_over(self, block: int, *, done: bool) -> Report:
        """The report of a block in the first of two rounds."""
        return [block if done else None, None, None, *[None] * (2 + len(self.units))]

    def masked(self, facts: BlockFacts) -> Report:
        """The report of a block in the last round."""
        if not facts.done:
            return [None, None, 1, *[None] * (2 + len(self.units))]
        either, total = facts.keys
        pad, *pads = self._pads(facts.block)
        errors = [
            round(math.ldexp(error, -unit)) if unit is not None else 0
            for error, unit in zip(facts.errors, self.units, strict=True)
        ]
        hidden = [number + more for number, more in zip([total, *errors], pads, strict=True)]
        return [None, facts.block, None, _signed(either) ^ pad, *hidden]

    def asked(self) -> dict[str, str]:
        """What Spark has to compute of the column of lists, in SQL."""
        sums = {f"sum_{at}": f"sum({_at(at)})" for at in range(_SUM, _SUM + 1 + len(self.units))}
        return {
            **dict(_bitmaps("first", _FIRST, self.blocks)),
            **dict(_bitmaps("last", _LAST, self.last)),
            "undone": f"sum({_at(_UNDONE)})",
            "xor": f"bit_xor(cast({_at(_XOR)} as bigint))",
            **sums,
        }

    def handed(self, found: Mapping[str, Any]) -> frozenset[int]:
        """The blocks that the first of two rounds handed over."""
        return _read_bitmaps(found, "first", self.blocks)

    def done(self, found: Mapping[str, Any]) -> frozenset[int]:
        """The blocks that the last round masked."""
        return _read_bitmaps(found, "last", self.last)

    def all_done(self, found: Mapping[str, Any]) -> bool:
        """Whether the last round could mask every block that holds rows."""
        return not found["undone"]

    def keys(self, found: Mapping[str, Any]) -> tuple[int, int]:
        """Xor and sum of the keys of all rows."""
        either, total = found["xor"] or 0, _whole(found[f"sum_{_SUM}"])
        for pad, more, *_ in map(self._pads, self.done(found)):
            either ^= pad
            total -= more
        return either % 2**64, total

    def errors(self, found: Mapping[str, Any]) -> Floats:
        """The squared errors of all blocks by column."""
        sums = [_whole(found[f"sum_{_SUM + 1 + i}"]) for i in range(len(self.units))]
        for _, _, *pads in map(self._pads, self.done(found)):
            sums = [number - pad for number, pad in zip(sums, pads, strict=True)]
        pairs = zip(sums, self.units, strict=True)
        return np.array([math.ldexp(number, unit or 0) for number, unit in pairs])

    def _pads(self, block: int) -> list[int]:
        """The random numbers of a block: one for the xor, one for each sum."""
        made = hashlib.shake_256(self.key + block.to_bytes(8, "big"))
        drawn = made.digest(_PAD * (2 + len(self.units)))
        pads = [int.from_bytes(drawn[i : i + _PAD], "big") for i in range(0, len(drawn), _PAD)]
        return [_signed(pads[0] % 2**64), *pads[1:]]


def as_cell(numbers: Report) -> list[Decimal | None]:
    """A report as a cell of the column of lists."""
    return [None if number is None else Decimal(number) for number in numbers]


def _unit(s: ColumnStatistics) -> int | None:
    most = s.n * (s.sd**2 if s.sd > 0 else s.pair_difference)
    return math.frexp(most)[1] - _FINE if most > 0 else None


def _signed(number: int) -> int:
    """64 bits as Spark's bigint."""
    return number - 2**64 if number >= 2**63 else number


def _whole(found: Decimal | None) -> int:
    return 0 if found is None else int(found)


def _at(place: int) -> str:
    return f"get({FACTS}, {place})"


def _bitmaps(name: str, place: int, blocks: int) -> Iterator[tuple[str, str]]:
    """The set of blocks at this place of the lists, as bitmaps of a fixed size."""
    block = f"cast({_at(place)} as bigint)"
    for i, start in enumerate(range(0, blocks, _BITS)):
        bit = f"if({block} between {start} and {start + _BITS - 1}, {block} - {start}, null)"
        yield f"{name}_{i}", f"bitmap_construct_agg({bit})"


def _read_bitmaps(found: Mapping[str, Any], name: str, blocks: int) -> frozenset[int]:
    bits = [
        np.unpackbits(np.frombuffer(bytes(found[f"{name}_{i}"]), np.uint8), bitorder="little")
        for i, _ in enumerate(range(0, blocks, _BITS))
    ]
    return frozenset(map(int, np.flatnonzero(np.concatenate(bits))))
