"""Distances and their bounds by hand for both metrics, and what arrays a metric is made of."""

from __future__ import annotations

import numpy as np
import pytest

from sparkanon.numeric.distance import (
    added,
    apart,
    box_ends,
    box_gaps,
    distances,
    from_length,
    length,
)
from sparkanon.numeric.metric import Metric

SQUARES = Metric.euclidean(5)
CAPPED = Metric.manhattan(np.array([2.0, 1, 9, 9, 3]), np.array([0, 1, 0, 0, 0], np.bool_))

# Records 0 and 1 are 1, 4, 0, 2 and 5 apart: 1 + 16 + 0 + 4 + 25, or 1 + 1 + 0 + 2 + 3 if capped.
RECORDS = np.array([[0.0, 1], [0, 4], [3, 3], [1, -1], [2, 7]])
BY_HAND = [(SQUARES, 46.0), (CAPPED, 7.0)]


def in_float32(metric: Metric) -> Metric:
    return metric._replace(caps=metric.caps.astype(np.float32))


@pytest.mark.parametrize(("metric", "expected"), BY_HAND, ids=["squares", "capped"])
def test_distances_by_hand(metric: Metric, expected: float) -> None:
    point, rows = RECORDS[:, 0].copy(), np.ascontiguousarray(RECORDS.T)
    near = np.full(3, -1.0)
    distances(RECORDS, metric, point, 2, near)
    assert near.tolist() == [0.0, expected, -1.0], "the third place is not asked for"
    assert apart(rows, 0, rows, 1, metric) == expected
    assert sum(added(metric, j, *RECORDS[j]) for j in range(5)) == expected
    near32 = np.empty(2, np.float32)
    values, metric32 = RECORDS.astype(np.float32), in_float32(metric)
    distances(values, metric32, point.astype(np.float32), 2, near32)
    assert near32.tolist() == [0.0, expected]


def test_lengths_add_up_along_a_line() -> None:
    assert (length(SQUARES, 9.0), from_length(SQUARES, 3.0)) == (3.0, 9.0)
    assert (length(CAPPED, 9.0), from_length(CAPPED, 9.0)) == (9.0, 9.0)


@pytest.mark.parametrize("metric", [SQUARES, CAPPED], ids=["squares", "capped"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_boxes_bound_the_distances_to_what_is_in_them(metric: Metric, kind: type) -> None:
    rng = np.random.default_rng(1)
    metric = in_float32(metric) if kind is np.float32 else metric
    values = rng.normal(size=(5, 40)).astype(kind) * 2
    point = rng.normal(size=5).astype(kind) * 2
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    near, least, most = np.empty(40, kind), np.empty(1, kind), np.empty(1, kind)
    distances(values, metric, point, 40, near)
    box_gaps(low, high, 1, metric, point, point, least)
    box_ends(low, high, 1, metric, point, most)
    assert least[0] <= near.min() <= near.max() <= most[0]
    # Of a box around one record both bounds are its distance, to the bit.
    for i in range(40):
        box_gaps(values[:, i : i + 1], values[:, i : i + 1], 1, metric, point, point, least)
        box_ends(values[:, i : i + 1], values[:, i : i + 1], 1, metric, point, most)
        assert least[0] == near[i] == most[0]


def test_a_metric_holds_arrays_of_one_kind_and_keeps_some_coordinates() -> None:
    caps = np.arange(6, dtype=np.float32)[::2]
    caps.setflags(write=False)
    metric = Metric.manhattan(caps, np.array([True, False, True]))
    assert metric.caps.dtype == np.float64
    assert metric.caps.flags.c_contiguous
    assert metric.caps.flags.writeable
    kept = metric.some(~metric.codes)
    assert (kept.caps.tolist(), kept.capped, kept.codes.tolist()) == ([2.0], True, [False])
