"""Top and bottom coding: values beyond two limits are published as the limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sparkanon.errors import InputError, Problem
from sparkanon.needs import Known, Need
from sparkanon.numeric.records import Records, Scale
from sparkanon.promises import Measured, Promise
from sparkanon.registry import one_of, spec
from sparkanon.releases.base import Asked, Cells, Grouped, Published, Release, Replaced
from sparkanon.releases.needs import Limits, NumberOf, Quantiles

End = Literal["low", "high"]
Limit = Annotated[
    int | Annotated[float, Field(allow_inf_nan=False)] | str, one_of("a number or text")
]
_PATH = "method.release"
_UPSIDE_DOWN = "the low limit is above the high one"


@spec
class TopBottom(Release):
    """Every value up to the low limit becomes the low limit, from the high one on the high one.

    The limits of a column are stated in the policy, or they are quantiles of the whole table:
    at least `share` of the column's values then carry each of the two. What lies between the
    limits stays as it is, and a null stays null.
    """

    key: ClassVar[str] = "top_bottom"
    title: ClassVar[str] = "extreme values replaced by a limit, all others as they were (ordered)"
    source: ClassVar[str] = "SURVEY tables 1-2"
    done: ClassVar[str] = "replaced values beyond a low and a high limit by the limit"
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC, Scale.ORDINAL})
    cells: ClassVar[Cells] = Cells.OWN
    by_group: ClassVar[bool] = False

    share: float | None = Field(
        None, gt=0, lt=0.5, description="Of the values that carry the limit, at each end."
    )
    limits: dict[str, dict[End, Limit]] = Field(
        default_factory=dict,
        description="By column: low, high or both. For dates as text, 2000-12-31.",
    )

    def problems(self, asked: Asked) -> list[Problem]:
        found = []
        for name, ends in self.limits.items():
            path = f"limits.{name}"
            if name not in asked.quasi:
                found.append(Problem(path, "is no quasi-identifier"))
            if not ends:
                found.append(Problem(path, "must name a low limit, a high one or both"))
            low, high = ends.get("low"), ends.get("high")
            numbers = isinstance(low, int | float) and isinstance(high, int | float)
            if numbers and low > high:  # type: ignore[operator]  # text is compared in `fit`
                found.append(Problem(path, _UPSIDE_DOWN))
        rest = [name for name in asked.quasi if name not in self.limits]
        if rest and self.share is None:
            text = f"is required: the policy states no limits for {', '.join(rest)}"
            found.append(Problem("share", text))
        if not rest and self.share is not None:
            found.append(Problem("share", "is not used: every quasi-identifier has limits"))
        return found

    def promise(self, quasi: Sequence[str], k: int | None) -> Promise:
        why = "values between the limits are published as they are"
        return Measured(columns=tuple(quasi), why=why)

    def needs(self) -> tuple[Need[Any], ...]:
        quantiles = () if self.share is None else (Quantiles(self.share),)
        return (*quantiles, *self._stated().values())

    def _stated(self) -> dict[tuple[str, End], NumberOf]:
        return {
            (name, end): NumberOf(name, value, f"{_PATH}.limits.{name}.{end}")
            for name, ends in self.limits.items()
            for end, value in ends.items()
        }

    def fit(self, known: Known) -> FittedTopBottom:
        limits = {} if self.share is None else dict(known[Quantiles(self.share)])
        stated = {place: known[need] for place, need in self._stated().items()}
        for name in self.limits:
            low = stated.get((name, "low"), -np.inf)
            high = stated.get((name, "high"), np.inf)
            if low > high:
                raise InputError(Problem(f"{_PATH}.limits.{name}", _UPSIDE_DOWN))
            limits[name] = (low, high)
        return FittedTopBottom(limits)


@dataclass(frozen=True)
class FittedTopBottom:
    """The limits of every column, as numbers of a kernel; an open end is infinite."""

    limits: Limits = field(repr=False)  # they may be cells

    def publish(self, records: Records, groups: Grouped) -> tuple[Published, ...]:
        found = []
        for column in records:
            low, high = self.limits[column.name]
            # Cells that are equal to a limit are written anew as well: where a double does not
            # hold all digits of a cell, they would differ from the others in the last ones.
            beyond = ~column.null & ((column.values <= low) | (column.values >= high))
            found.append(Replaced(beyond, np.clip(column.values, low, high)))
        return tuple(found)
