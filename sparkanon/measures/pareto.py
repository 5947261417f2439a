"""The Pareto front: what nothing else beats in both respects."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float] | None]) -> tuple[bool, ...]:
    """Whether each point is undominated; lower is better on both axes.

    A point is dominated by one that is nowhere higher and somewhere lower, so equal points stay
    together. None is a point that could not be measured and is never on the front.
    """
    measured = [point for point in points if point is not None]
    return tuple(
        point is not None
        and not any(
            other != point and other[0] <= point[0] and other[1] <= point[1] for other in measured
        )
        for point in points
    )
